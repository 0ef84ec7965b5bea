# Enviroment variables can be set here.
export JAVA_HOME=/usr/lib/jvm/java-11-openjdk
export JAVA_OPTS="-Xms100m -Xmx2000m -Dcom.sun.management.jmxremote"
JAVA_OPTS="$JAVA_OPTS -Dflume.monitoring.type=http \
  -Dflume.monitoring.port=${PORT:-41414}"
FLUME_CLASSPATH="/opt/a.jar:/opt/b.jar"
for f in /opt/*.jar; do FLUME_CLASSPATH="$FLUME_CLASSPATH:$f"; done
case "$HOST" in web*) ROLE=web ;; esac
function heap() { echo 1g; }
export HEAP=$(heap) OTHER=`date`
