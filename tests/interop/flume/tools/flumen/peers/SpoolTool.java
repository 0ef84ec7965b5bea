package flumen.peers;

import java.io.BufferedOutputStream;
import java.io.FileOutputStream;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.Set;
import javax.management.ObjectName;
import org.apache.flume.Context;
import org.apache.flume.Event;
import org.apache.flume.Transaction;
import org.apache.flume.channel.ChannelProcessor;
import org.apache.flume.channel.MemoryChannel;
import org.apache.flume.channel.ReplicatingChannelSelector;
import org.apache.flume.conf.Configurables;
import org.apache.flume.source.SpoolDirectorySource;

/** Reads a directory through Flume's own source, until N events are stored, and ends in good order or as if killed. */
public final class SpoolTool {
  private static final String USAGE = String.join("\n",
      "usage: SpoolTool stop|kill DIRECTORY N [--timeout SECONDS (60)] [--prop k=v]   prints each event",
      "       --settle MS (default 1500): what the source may do after the last event is stored");

  private static final PrintStream OUT = new PrintStream(
      new BufferedOutputStream(new FileOutputStream(java.io.FileDescriptor.out), 1 << 16), false, StandardCharsets.UTF_8);

  public static void main(String[] argv) {
    System.setOut(System.err); // only JSON lines belong on standard output
    int rc = 1;
    try {
      rc = run(new Args(argv, Set.of(), Set.of("timeout", "settle")));
    } catch (IllegalArgumentException e) {
      System.err.println("SpoolTool: " + e.getMessage() + "\n" + USAGE);
      rc = 2;
    } catch (Throwable t) {
      t.printStackTrace();
    }
    OUT.flush();
    Runtime.getRuntime().halt(rc);
  }

  private static int run(Args a) throws Exception {
    boolean kill = a.word(0, "stop or kill").equals("kill");
    int n = Integer.parseInt(a.word(2, "N"));

    // Room for N events: the source cannot go further.
    MemoryChannel channel = new MemoryChannel();
    channel.setName("c1");
    Context cc = new Context();
    cc.put("capacity", Integer.toString(n));
    cc.put("transactionCapacity", Integer.toString(n));
    cc.put("keep-alive", "0");
    Configurables.configure(channel, cc);
    channel.start();

    SpoolDirectorySource source = new SpoolDirectorySource();
    source.setName("r1");
    Context sc = new Context();
    sc.put("spoolDir", a.word(1, "DIRECTORY"));
    a.props.forEach(sc::put);
    ReplicatingChannelSelector selector = new ReplicatingChannelSelector();
    selector.setChannels(Collections.singletonList(channel));
    source.setChannelProcessor(new ChannelProcessor(selector));
    Configurables.configure(source, sc);
    source.start();

    long deadline = System.nanoTime() + a.number("timeout", 60) * 1_000_000_000L;
    ObjectName counter = new ObjectName("org.apache.flume.source:type=r1");
    while ((Long) ManagementFactory.getPlatformMBeanServer().getAttribute(counter, "EventAcceptedCount") < n
        && System.nanoTime() < deadline) {
      Thread.sleep(20);
    }
    Thread.sleep(a.number("settle", 1500)); // the position is written after the events are stored
    if (!kill) {
      source.stop();
    }
    int count = 0;
    Transaction tx = channel.getTransaction();
    tx.begin();
    while (count < n) {
      Event e = channel.take();
      if (e == null) {
        break;
      }
      OUT.println(Events.json(e));
      count++;
    }
    OUT.flush();
    return count == n ? 0 : 4;
  }
}
