import java.io.*;
import java.nio.*;
import java.nio.charset.*;
import java.nio.file.*;
import java.util.*;

/**
 * Writes `tables.bin` and `charsets.tsv` beside it by asking a JDK what its charsets do. Usage: java CharsetTables.java DIR.
 * Made with JDK 17.0.15; another JDK gives other tables in a few places. The format is described in `../table.rs`.
 */
public final class CharsetTables {
    static final int NONE = -1;

    /** One table: code (one byte, or two as high and low) to code point, and the code points that do not encode by the way back. */
    static final class Table {
        final String name;
        final int[] decode = new int[65536];
        final TreeMap<Integer, Integer> extra = new TreeMap<>();
        Table(String name) { this.name = name; Arrays.fill(decode, NONE); }
    }

    static int one(Charset cs, byte... b) {
        try {
            String s = cs.newDecoder().decode(ByteBuffer.wrap(b)).toString();
            return s.codePointCount(0, s.length()) == 1 ? s.codePointAt(0) : NONE;
        } catch (CharacterCodingException e) {
            return NONE;
        }
    }

    static void encode(Table t, Charset cs, boolean planes) {
        Map<Integer, Integer> back = new HashMap<>();
        for (int code = 0; code < 65536; code++) if (t.decode[code] != NONE) back.putIfAbsent(t.decode[code], code);
        CharsetEncoder e = cs.newEncoder();
        for (int cp = 0; cp < (planes ? 0x30000 : 0x10000); cp++) {
            if (cp >= 0xd800 && cp < 0xe000) continue;
            String s = new String(Character.toChars(cp));
            int code = NONE;
            if (e.canEncode(s)) {
                byte[] x = s.getBytes(cs);
                if (x.length > 2) throw new IllegalStateException(cs + " " + Integer.toHexString(cp));
                code = x.length == 1 ? x[0] & 0xff : (x[0] & 0xff) << 8 | x[1] & 0xff;
            }
            int there = back.getOrDefault(cp, NONE);
            if (code != there) t.extra.put(cp, code == NONE ? 0xffff : code);
        }
    }

    static Table read(String name, boolean single, boolean dbl, boolean planes) {
        Charset cs = Charset.forName(name);
        Table t = new Table(name);
        for (int h = 0; h < 256; h++) {
            int c = single ? one(cs, (byte) h) : NONE;
            if (c != NONE) { t.decode[h] = c; continue; }
            if (dbl && h > 0) for (int l = 0; l < 256; l++) t.decode[h << 8 | l] = one(cs, (byte) h, (byte) l);
        }
        encode(t, cs, planes);
        return t;
    }

    /** The operations that turn `base` into `t`. */
    static List<Integer> ops(Table t, Table base) {
        List<Integer> out = new ArrayList<>();
        int code = 0;
        while (code < 65536) {
            int was = base == null ? NONE : base.decode[code], now = t.decode[code];
            if (was == now) { code++; continue; }
            int kind = now == NONE ? 2 : now >= 0x20000 ? 3 : 0, from = code;
            List<Integer> run = new ArrayList<>();
            while (code < 65536 && run.size() < 0x3fff) {
                was = base == null ? NONE : base.decode[code];
                now = t.decode[code];
                int k = now == NONE ? 2 : now >= 0x20000 ? 3 : 0;
                if (was == now || k != kind) break;
                if (now >= 0x10000 && now < 0x20000) throw new IllegalStateException(t.name);
                run.add(now & 0xffff);
                code++;
            }
            if (kind != 0) {
                out.add(from);
                out.add(kind << 14 | run.size());
                if (kind == 3) out.addAll(run);
                continue;
            }
            int i = 0, literal = 0;
            while (i <= run.size()) {
                int j = i + 1;
                while (j < run.size() && run.get(j) == run.get(j - 1) + 1) j++;
                boolean linear = i < run.size() && j - i >= 6, end = i == run.size();
                if ((linear || end) && i > literal) {
                    out.add(from + literal);
                    out.add(i - literal);
                    out.addAll(run.subList(literal, i));
                }
                if (end) break;
                if (linear) {
                    out.add(from + i);
                    out.add(1 << 14 | j - i);
                    out.add(run.get(i));
                    literal = j;
                    i = j;
                } else i = j;
            }
        }
        return out;
    }

    static List<Integer> extras(Table t) {
        List<Integer> out = new ArrayList<>();
        Integer[] keys = t.extra.keySet().toArray(new Integer[0]);
        for (int i = 0; i < keys.length; ) {
            int j = i + 1;
            while (j < keys.length && keys[j] == keys[j - 1] + 1 && keys[j] >> 16 == keys[i] >> 16 && j - i < 0x3fff) j++;
            out.add(keys[i] & 0xffff);
            out.add(keys[i] >> 16 << 14 | j - i);
            for (; i < j; i++) out.add(t.extra.get(keys[i]));
        }
        return out;
    }

    static void u16(OutputStream o, int v) throws IOException {
        o.write(v & 0xff);
        o.write(v >> 8 & 0xff);
    }

    public static void main(String[] a) throws Exception {
        Set<String> doubles = Set.of("Big5", "EUC-KR", "GB2312", "GBK", "Shift_JIS", "windows-31j", "x-Big5-Solaris", "x-IBM1381", "x-IBM942", "x-IBM942C", "x-IBM943", "x-IBM943C",
            "x-IBM948", "x-IBM949", "x-IBM949C", "x-IBM950", "x-Johab", "x-mswin-936", "x-PCK", "x-windows-949", "x-windows-950");
        List<Table> tables = new ArrayList<>();
        StringBuilder names = new StringBuilder("# canonical name, kind, table, replacement of the encoder (hex), aliases\n");
        Map<String, String> kinds = new HashMap<>();
        for (String k : ("US-ASCII=ascii ISO-8859-1=latin1 UTF-8=utf8 CESU-8=cesu8 UTF-16=utf16 UTF-16BE=utf16be UTF-16LE=utf16le x-UTF-16LE-BOM=utf16lebom UTF-32=utf32"
                + " UTF-32BE=utf32be UTF-32LE=utf32le X-UTF-32BE-BOM=utf32bebom X-UTF-32LE-BOM=utf32lebom EUC-JP=eucjp ISO-2022-JP=iso2022jp GB18030=gb18030 Big5-HKSCS=hkscs").split(" "))
            kinds.put(k.split("=")[0], k.split("=")[1]);
        Map<String, Integer> index = new HashMap<>();
        Table lin = new Table("gb18030-four");
        Charset gb = Charset.forName("GB18030");
        for (int i = 0; i < 39420; i++)
            lin.decode[i] = one(gb, (byte) (0x81 + i / 12600), (byte) (0x30 + i / 1260 % 10), (byte) (0x81 + i / 10 % 126), (byte) (0x30 + i % 10));
        Table two = new Table("gb18030-two");
        for (int h = 0x81; h < 0xff; h++) for (int l = 0x40; l < 0xff; l++) if (l != 0x7f) two.decode[h << 8 | l] = one(gb, (byte) h, (byte) l);
        tables.add(read("x-JIS0208", false, true, false));
        tables.add(read("JIS_X0212-1990", false, true, false));
        tables.add(two);
        tables.add(lin);
        index.put("GB18030", 2);
        for (Charset c : Charset.availableCharsets().values()) {
            String kind = kinds.get(c.name()), cls = c.newDecoder().getClass().getName();
            if (kind == null && c.canEncode() && cls.contains("SingleByte")) kind = "single";
            if (kind == null && doubles.contains(c.name())) {
                if (!cls.equals("sun.nio.cs.DoubleByte$Decoder")) throw new IllegalStateException(cls);
                kind = "double";
            }
            if (kind == null) kind = "-";
            if (kind.equals("single") || kind.equals("double") || kind.equals("hkscs")) {
                index.put(c.name(), tables.size());
                tables.add(read(c.name(), true, !kind.equals("single"), kind.equals("hkscs")));
            }
            String rep = c.canEncode() ? HexFormat.of().formatHex(c.newEncoder().replacement()) : "-";
            names.append(c.name()).append('\t').append(kind).append('\t').append(index.getOrDefault(c.name(), 0)).append('\t').append(rep).append('\t').append(String.join(" ", new TreeSet<>(c.aliases()))).append('\n');
        }
        ByteArrayOutputStream o = new ByteArrayOutputStream();
        u16(o, tables.size());
        for (int i = 0; i < tables.size(); i++) {
            int best = 0xffff;
            List<Integer> ops = ops(tables.get(i), null);
            for (int b = 0; b < i; b++) {
                List<Integer> d = ops(tables.get(i), tables.get(b));
                if (d.size() < ops.size()) { ops = d; best = b; }
            }
            List<Integer> extra = extras(tables.get(i));
            System.err.println(i + " " + tables.get(i).name + " base " + best + ": " + ops.size() + " + " + extra.size());
            u16(o, best);
            u16(o, ops.size());
            u16(o, extra.size());
            for (int v : ops) u16(o, v);
            for (int v : extra) u16(o, v);
        }
        Files.write(Paths.get(a[0], "tables.bin"), o.toByteArray());
        Files.writeString(Paths.get(a[0], "charsets.tsv"), names.toString());
    }
}
