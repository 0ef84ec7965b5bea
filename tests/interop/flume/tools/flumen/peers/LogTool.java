package flumen.peers;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericRecord;
import org.apache.log4j.Level;
import org.apache.log4j.LogManager;
import org.apache.log4j.Logger;
import org.apache.log4j.PropertyConfigurator;

/**
 * Logs through log4j 1.2 and Flume's appenders. Each line of standard input is a command, its words with tabs between:
 * `configure FILE`, `log LEVEL N TEXT` (messages `TEXT 0` and on), `collection N TEXT` (all in one call), `record TEXT` (an Avro
 * record), `mixed TEXT` (a record, the text, a record, in one call), `object TEXT` (one that is made by reflection), `close`. It is answered by `OK N`, where N counts the calls that
 * went through, or `THROWN N CLASSES` with the classes of the first exception and its causes.
 */
public final class LogTool {
  private static final PrintStream OUT = new PrintStream(System.out, true, StandardCharsets.UTF_8);

  static {
    System.setOut(System.err); // the log of Flume itself, once it has begun, goes to what is standard output then
  }

  private static final Logger LOGGER = Logger.getLogger("flumen.interop");
  private static final Schema SCHEMA = new Schema.Parser().parse(
      "{\"type\":\"record\",\"name\":\"Message\",\"fields\":[{\"name\":\"message\",\"type\":\"string\"}]}");

  /** What reflection makes a record of. */
  public static final class Message {
    private final String message;

    Message(String message) {
      this.message = message;
    }

    @Override
    public String toString() {
      return message;
    }
  }

  private LogTool() {}

  public static void main(String[] argv) throws Exception {
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      String[] words = line.split("\t");
      int done = 0;
      String end = "OK";
      String why = "";
      int n = words[0].equals("log") ? Integer.parseInt(words[2]) : 1;
      for (int i = 0; i < n; i++) {
        try {
          step(words, i);
          done++;
        } catch (Throwable t) {
          if (end.equals("OK")) {
            end = "THROWN";
            StringBuilder names = new StringBuilder();
            for (Throwable cause = t; cause != null; cause = cause.getCause()) {
              names.append(' ').append(cause.getClass().getSimpleName());
            }
            why = names.toString();
          }
        }
      }
      OUT.println(end + " " + done + why);
    }
  }

  private static void step(String[] words, int i) {
    switch (words[0]) {
      case "configure":
        LogManager.resetConfiguration();
        PropertyConfigurator.configure(words[1]);
        break;
      case "log":
        LOGGER.log(Level.toLevel(words[1]), words[3] + " " + i);
        break;
      case "collection":
        List<Object> all = new ArrayList<>();
        for (int k = 0; k < Integer.parseInt(words[1]); k++) {
          all.add(words[2] + " " + k);
        }
        LOGGER.info(all);
        break;
      case "record":
        GenericRecord record = new GenericData.Record(SCHEMA);
        record.put("message", words[1]);
        LOGGER.info(record);
        break;
      case "mixed":
        GenericRecord one = new GenericData.Record(SCHEMA);
        one.put("message", words[1]);
        List<Object> mixed = new ArrayList<>();
        mixed.add(one);
        mixed.add(words[1]);
        mixed.add(one);
        LOGGER.info(mixed);
        break;
      case "object":
        LOGGER.info(new Message(words[1]));
        break;
      case "close":
        LogManager.resetConfiguration();
        break;
      default:
        throw new IllegalArgumentException(words[0]);
    }
  }
}
