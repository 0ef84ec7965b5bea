package flumen.peers;

import java.io.BufferedOutputStream;
import java.io.File;
import java.io.FileOutputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.security.KeyStore;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import javax.crypto.spec.SecretKeySpec;
import org.apache.flume.Channel;
import org.apache.flume.Context;
import org.apache.flume.Event;
import org.apache.flume.Transaction;
import org.apache.flume.channel.file.FileChannel;
import org.apache.flume.conf.Configurables;

/** Writes, drains and crashes a real Flume FileChannel. */
public final class FileChannelTool {
  private static final String USAGE = String.join("\n",
      "usage: FileChannelTool write DIR N SEED [options]   put N events, print what should remain",
      "       FileChannelTool crash DIR N SEED [options]   the same, then halt (exit 3) with a put and a take open",
      "       FileChannelTool load  DIR SEED [options]     put events until it is killed, print how many are acknowledged",
      "       FileChannelTool read  DIR [options]          drain, printing each event",
      "layout: DIR/checkpoint, DIR/data (DIR/data1, ... with --data-dirs K>1), DIR/backup, DIR/keys",
      "options: --encrypt  --keys KEYSDIR  --key-alias A  --dual-checkpoint  --compress-backup",
      "         --capacity C (default 10000)  --transaction-capacity T (1000)  --max-file-size B",
      "         --checkpoint-interval MS  --no-checkpoint-on-close  --fast-replay  --no-fsync",
      "         --data-dirs K  --body-size B  --puts-only (no rollbacks, no takes)  --prop k=v",
      "         read: --keep (roll every take back)  --limit N  --quiet (only the count, on stderr)");

  private static final int TX = 10;
  private static final PrintStream OUT = new PrintStream(
      new BufferedOutputStream(new FileOutputStream(java.io.FileDescriptor.out), 1 << 16), false, StandardCharsets.UTF_8);

  public static void main(String[] argv) throws Exception {
    System.setOut(System.err); // Flume itself prints a line or two to stdout: only JSON lines belong there
    int rc = 1;
    try {
      Args a = new Args(argv,
          Set.of("encrypt", "dual-checkpoint", "compress-backup", "no-checkpoint-on-close", "fast-replay",
              "no-fsync", "puts-only", "keep", "quiet"),
          Set.of("keys", "key-alias", "capacity", "transaction-capacity", "max-file-size", "checkpoint-interval",
              "data-dirs", "body-size", "limit"));
      switch (a.word(0, "subcommand")) {
        case "write":
          write(a, false);
          break;
        case "crash":
          write(a, true);
          break;
        case "load":
          load(a);
          break;
        case "read":
          read(a);
          break;
        default:
          throw new IllegalArgumentException("unknown subcommand " + a.word(0, ""));
      }
      rc = 0;
    } catch (IllegalArgumentException e) {
      System.err.println("FileChannelTool: " + e.getMessage() + "\n" + USAGE);
      rc = 2;
    } catch (Throwable t) {
      t.printStackTrace();
    }
    OUT.flush();
    System.exit(rc); // Flume leaves threads behind
  }

  private static FileChannel open(Args a, Long seed) throws Exception {
    File dir = new File(a.word(1, "DIR")).getAbsoluteFile();
    Context c = new Context();
    c.put("checkpointDir", new File(dir, "checkpoint").getPath());
    int k = a.number("data-dirs", 1);
    List<String> data = new ArrayList<>();
    for (int i = 1; i <= k; i++) {
      data.add(new File(dir, k == 1 ? "data" : "data" + i).getPath());
    }
    c.put("dataDirs", String.join(",", data));
    c.put("capacity", a.get("capacity", "10000"));
    c.put("transactionCapacity", a.get("transaction-capacity", "1000"));
    c.put("minimumRequiredSpace", "1048576");
    c.put("keep-alive", "1");
    if (a.has("max-file-size")) {
      c.put("maxFileSize", a.get("max-file-size", null));
    }
    if (a.has("checkpoint-interval")) {
      c.put("checkpointInterval", a.get("checkpoint-interval", null));
    }
    if (a.has("no-checkpoint-on-close")) {
      c.put("checkpointOnClose", "false");
    }
    if (a.has("fast-replay")) {
      c.put("use-fast-replay", "true");
    }
    if (a.has("no-fsync")) {
      c.put("fsyncPerTransaction", "false");
    }
    if (a.has("dual-checkpoint")) {
      c.put("useDualCheckpoints", "true");
      c.put("backupCheckpointDir", new File(dir, "backup").getPath());
      if (a.has("compress-backup")) {
        c.put("compressBackupCheckpoint", "true");
      }
    }
    if (a.has("encrypt")) {
      File keys = a.has("keys") ? new File(a.get("keys", null)) : new File(dir, "keys");
      String alias = a.get("key-alias", "key-0");
      if (seed != null) {
        makeKeys(keys, alias, seed);
      }
      c.put("encryption.activeKey", alias);
      c.put("encryption.cipherProvider", "AESCTRNOPADDING");
      c.put("encryption.keyProvider", "JCEKSFILE");
      c.put("encryption.keyProvider.keyStoreFile", new File(keys, "keystore.jceks").getPath());
      c.put("encryption.keyProvider.keyStorePasswordFile", new File(keys, "keystore.password").getPath());
      c.put("encryption.keyProvider.keys", alias);
    }
    a.props.forEach(c::put);
    FileChannel ch = new FileChannel();
    ch.setName("c1");
    Configurables.configure(ch, c);
    ch.start();
    if (!ch.isOpen()) {
      throw new IllegalStateException("the channel did not open");
    }
    return ch;
  }

  /** A JCEKS key store with one AES-128 key that follows from the seed; one password for store and key. */
  private static void makeKeys(File keys, String alias, long seed) throws Exception {
    File store = new File(keys, "keystore.jceks");
    if (store.exists()) {
      return;
    }
    Files.createDirectories(keys.toPath());
    byte[] key = new byte[16];
    new Random(seed).nextBytes(key);
    char[] password = "flumen-peer".toCharArray();
    KeyStore ks = KeyStore.getInstance("JCEKS");
    ks.load(null, null);
    ks.setEntry(alias, new KeyStore.SecretKeyEntry(new SecretKeySpec(key, "AES")),
        new KeyStore.PasswordProtection(password));
    try (OutputStream o = new FileOutputStream(store)) {
      ks.store(o, password);
    }
    Files.write(new File(keys, "keystore.password").toPath(), new String(password).getBytes(StandardCharsets.UTF_8));
    StringBuilder hex = new StringBuilder();
    for (byte b : key) {
      hex.append(String.format("%02x", b));
    }
    Files.write(new File(keys, alias + ".hex").toPath(), (hex + "\n").getBytes(StandardCharsets.US_ASCII));
  }

  private static void write(Args a, boolean crash) throws Exception {
    int n = Integer.parseInt(a.word(2, "N"));
    long seed = Long.parseLong(a.word(3, "SEED"));
    int size = a.number("body-size", -1);
    boolean mixed = !a.has("puts-only");
    FileChannel ch = open(a, seed);
    Deque<Event> model = new ArrayDeque<>();
    int made = 0, rolledBack = 0, taken = 0, putBack = 0;
    for (int t = 0; made < n; t++) {
      List<Event> batch = new ArrayList<>();
      while (batch.size() < TX && made < n) {
        batch.add(Events.make(seed, made++, size));
      }
      boolean undo = mixed && t % 5 == 3;
      Transaction tx = ch.getTransaction();
      tx.begin();
      for (Event e : batch) {
        ch.put(e);
      }
      end(tx, !undo);
      if (undo) {
        rolledBack += batch.size();
      } else {
        model.addAll(batch);
      }
      if (mixed && t % 4 == 2) {
        taken += take(ch, model, 5, true);
      }
      if (mixed && t % 7 == 5) {
        putBack += take(ch, model, 3, false);
      }
    }
    for (Event e : model) {
      OUT.println(Events.json(e));
    }
    OUT.flush();
    Map<String, Object> sum = new LinkedHashMap<>();
    sum.put("made", made);
    sum.put("rolledBack", rolledBack);
    sum.put("taken", taken);
    sum.put("takenAndPutBack", putBack);
    sum.put("remain", model.size());
    System.err.println(Events.json(sum));
    if (crash) {
      // an open take on another thread (a channel has one transaction a thread), an open put on this one
      CountDownLatch took = new CountDownLatch(1);
      Thread other = new Thread(() -> {
        Transaction tx = ch.getTransaction();
        tx.begin();
        for (int i = 0; i < 4; i++) {
          ch.take();
        }
        took.countDown();
        try {
          Thread.sleep(Long.MAX_VALUE);
        } catch (InterruptedException ignored) {
          // halted before
        }
      });
      other.setDaemon(true);
      other.start();
      took.await();
      Transaction tx = ch.getTransaction();
      tx.begin();
      for (int i = 0; i < TX; i++) {
        ch.put(Events.make(seed, n + i, size));
      }
      System.err.flush();
      Runtime.getRuntime().halt(3);
    }
    ch.stop();
  }

  private static void load(Args a) throws Exception {
    long seed = Long.parseLong(a.word(2, "SEED"));
    FileChannel ch = open(a, seed);
    for (int made = 0; ; made += TX) {
      Transaction tx = ch.getTransaction();
      tx.begin();
      for (int i = 0; i < TX; i++) {
        ch.put(Events.make(seed, made + i, -1));
      }
      end(tx, true);
      OUT.println(made + TX);
      OUT.flush();
    }
  }

  private static void end(Transaction tx, boolean commit) {
    try {
      if (commit) {
        tx.commit();
      } else {
        tx.rollback();
      }
    } finally {
      tx.close();
    }
  }

  private static int take(Channel ch, Deque<Event> model, int count, boolean commit) {
    Deque<Event> seen = new ArrayDeque<>();
    Transaction tx = ch.getTransaction();
    tx.begin();
    for (int i = 0; i < count; i++) {
      Event e = ch.take();
      if (e == null) {
        break;
      }
      Event want = model.poll();
      if (want == null || !Events.json(want).equals(Events.json(e))) {
        throw new IllegalStateException("took another event than expected: " + Events.json(e));
      }
      seen.push(want);
    }
    end(tx, commit);
    int taken = seen.size();
    if (!commit) {
      seen.forEach(model::push);
    }
    return taken;
  }

  private static void read(Args a) throws Exception {
    FileChannel ch = open(a, null);
    int limit = a.number("limit", Integer.MAX_VALUE);
    int per = a.has("keep") ? Integer.parseInt(a.get("transaction-capacity", "1000")) : 100;
    boolean quiet = a.has("quiet");
    int count = 0;
    long start = System.nanoTime();
    for (boolean more = true; more && count < limit; ) {
      Transaction tx = ch.getTransaction();
      tx.begin();
      for (int i = 0; i < per && count < limit; i++) {
        Event e = ch.take();
        if (e == null) {
          more = false;
          break;
        }
        count++;
        if (!quiet) {
          OUT.println(Events.json(e));
        }
      }
      end(tx, !a.has("keep"));
      if (a.has("keep")) {
        break; // one transaction is all that can be seen without removing
      }
    }
    OUT.flush();
    Map<String, Object> sum = new LinkedHashMap<>();
    sum.put("read", count);
    sum.put("seconds", (System.nanoTime() - start) / 1e9);
    System.err.println(Events.json(sum));
    ch.stop();
  }
}
