package dev.verbscope.traces.perf;

import com.github.luben.zstd.EndDirective;
import com.github.luben.zstd.ZstdCompressCtx;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Builds perf.data by hand: any record, either byte order, file or pipe mode. */
@SuppressWarnings("ByteBufferBackingArray") // every buffer here is a fresh array
final class PerfFileBuilder {
    static final int IDENTIFIER = 1 << 16;
    static final int IP = 1;
    static final int TID = 1 << 1;
    static final int TIME = 1 << 2;
    static final int READ = 1 << 4;
    static final int CALLCHAIN = 1 << 5;
    static final int ID = 1 << 6;
    static final int CPU = 1 << 7;
    static final int PERIOD = 1 << 8;
    static final int RAW = 1 << 10;
    static final int USUAL = IDENTIFIER | IP | TID | TIME | CPU | PERIOD | RAW;

    static final int TRACEPOINT_ID = 1447;

    static final String FORMAT = """
            name: post_recv_ret
            ID: 1447
            format:
            \tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;
            \tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;
            \tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;
            \tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;

            \tfield:unsigned long __probe_func;\toffset:8;\tsize:8;\tsigned:0;
            \tfield:s32 ret;\toffset:16;\tsize:4;\tsigned:1;

            print fmt: "(%lx) ret=%d", REC->__probe_func, REC->ret
            """;

    private final ByteOrder order;
    private final ByteArrayOutputStream data = new ByteArrayOutputStream();
    private final List<byte[]> attrs = new ArrayList<>();
    private final List<long[]> ids = new ArrayList<>();
    private final Map<Integer, byte[]> features = new TreeMap<>();
    int attrSize = 128;

    PerfFileBuilder(ByteOrder order) {
        this.order = order;
    }

    /** A little buffer in the file's order. */
    ByteBuffer buffer(int size) {
        return ByteBuffer.allocate(size).order(order);
    }

    /** An event. */
    PerfFileBuilder attr(int type, long config, long sampleType, long readFormat, int clockId, long... eventIds) {
        attrs.add(attrBytes(type, config, sampleType, readFormat, clockId));
        ids.add(eventIds);
        return this;
    }

    byte[] attrBytes(int type, long config, long sampleType, long readFormat, int clockId) {
        ByteBuffer b = buffer(attrSize);
        long bits = bit(18) | (clockId >= 0 ? bit(25) : 0);
        b.putInt(type).putInt(attrSize).putLong(config).putLong(1).putLong(sampleType);
        b.putLong(readFormat).putLong(bits);
        if (attrSize >= 96) {
            b.putInt(92, Math.max(0, clockId));
        }
        return b.array();
    }

    private long bit(int n) {
        return 1L << (order == ByteOrder.BIG_ENDIAN ? 63 - n : n);
    }

    PerfFileBuilder feature(int number, byte[] content) {
        features.put(number, content);
        return this;
    }

    byte[] string(String text) {
        byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
        int padded = (utf8.length + 1 + 63) & ~63;
        return buffer(4 + padded).putInt(padded).put(utf8).array();
    }

    /** A record of any kind; the header is made here. */
    byte[] bytes(int type, int misc, byte[] body) {
        return buffer(8 + body.length)
                .putInt(type)
                .putShort((short) misc)
                .putShort((short) (8 + body.length))
                .put(body)
                .array();
    }

    PerfFileBuilder record(int type, byte[] body) {
        return raw(bytes(type, 0, body));
    }

    PerfFileBuilder raw(byte[] whole) {
        data.writeBytes(whole);
        return this;
    }

    /** The body of a sample with {@link #USUAL} fields. */
    byte[] sample(long id, int tid, long time, int cpu, byte[] raw) {
        int padded = ((4 + raw.length + 7) & ~7) - 4;
        ByteBuffer b = buffer(48 + 4 + padded);
        b.putLong(id)
                .putLong(0x1234)
                .putInt(tid)
                .putInt(tid)
                .putLong(time)
                .putInt(cpu)
                .putInt(0);
        b.putLong(1).putInt(padded).put(raw);
        return b.array();
    }

    /** The raw part of the tracepoint that {@link #FORMAT} describes. */
    byte[] raw(int tid, int ret) {
        return buffer(20)
                .putShort((short) TRACEPOINT_ID)
                .put((byte) 1)
                .put((byte) 0)
                .putInt(tid)
                .putLong(0xffff_ffff_c055_fb10L)
                .putInt(ret)
                .array();
    }

    PerfFileBuilder event(int tid, long time, int cpu, int ret) {
        return record(9, sample(7, tid, time, cpu, raw(tid, ret)));
    }

    /** What stands behind other records: tid, time, cpu, identifier. */
    byte[] tail(int tid, long time, int cpu) {
        return buffer(32)
                .putInt(tid)
                .putInt(tid)
                .putLong(time)
                .putInt(cpu)
                .putInt(0)
                .putLong(7)
                .array();
    }

    byte[] comm(int tid, String name, long time) {
        byte[] utf8 = name.getBytes(StandardCharsets.UTF_8);
        int padded = (utf8.length + 8) & ~7;
        return buffer(8 + padded + 32)
                .putInt(tid)
                .putInt(tid)
                .put(utf8)
                .position(8 + padded)
                .put(tail(tid, time, 0))
                .array();
    }

    byte[] fork(int tid, int parent, long time) {
        return buffer(56)
                .putInt(tid)
                .putInt(parent)
                .putInt(tid)
                .putInt(parent)
                .putLong(time)
                .put(tail(tid, time, 0))
                .array();
    }

    byte[] lost(long count, long time, int cpu) {
        return buffer(48).putLong(7).putLong(count).put(tail(1, time, cpu)).array();
    }

    byte[] lostSamples(long count, long time) {
        return buffer(40).putLong(count).put(tail(0, time, 0)).array();
    }

    /** The embedded tracefs metadata with one format. */
    byte[] tracingData(int longSize, String format) {
        byte[] text = format.getBytes(StandardCharsets.UTF_8);
        byte[] cmdlines = "9 saved name\n".getBytes(StandardCharsets.UTF_8);
        ByteBuffer b = buffer(400 + text.length);
        b.put(new byte[] {0x17, 0x08, 0x44}).put("tracing0.6\0".getBytes(StandardCharsets.UTF_8));
        b.put((byte) (order == ByteOrder.BIG_ENDIAN ? 1 : 0))
                .put((byte) longSize)
                .putInt(4096);
        b.put("header_page\0".getBytes(StandardCharsets.UTF_8)).putLong(5).put(new byte[5]);
        b.put("header_event\0".getBytes(StandardCharsets.UTF_8)).putLong(3).put(new byte[3]);
        b.putInt(0);
        b.putInt(1)
                .put("rdma_probe\0".getBytes(StandardCharsets.UTF_8))
                .putInt(1)
                .putLong(text.length)
                .put(text);
        b.putInt(0).putInt(2).put(new byte[2]);
        b.putLong(cmdlines.length).put(cmdlines);
        return java.util.Arrays.copyOf(b.array(), b.position());
    }

    /** Splits the plain records into compressed records of so many bytes each, wherever that cuts. */
    PerfFileBuilder compress(byte[] plain, int pieceSize, boolean second) {
        ByteBuffer source = ByteBuffer.allocateDirect(plain.length).put(plain).flip();
        ByteBuffer target = ByteBuffer.allocateDirect(plain.length + 1024);
        try (ZstdCompressCtx context = new ZstdCompressCtx()) {
            context.compressDirectByteBufferStream(target, source, EndDirective.FLUSH);
        }
        target.flip();
        while (target.hasRemaining()) {
            byte[] piece = new byte[Math.min(pieceSize, target.remaining())];
            target.get(piece);
            if (second) {
                int padded = (piece.length + 7) & ~7;
                record(83, buffer(8 + padded).putLong(piece.length).put(piece).array());
            } else {
                record(81, piece);
            }
        }
        return this;
    }

    /** The records so far; empties them. */
    byte[] takeData() {
        byte[] out = data.toByteArray();
        data.reset();
        return out;
    }

    /** File mode. */
    byte[] file() {
        return file(-1);
    }

    /** @param dataSize what the header says; -1 for the truth */
    byte[] file(long dataSize) {
        int entry = attrSize + 16;
        int idBytes = ids.stream().mapToInt(i -> i.length * 8).sum();
        int attrsAt = 104;
        int idsAt = attrsAt + attrs.size() * entry;
        int dataAt = idsAt + idBytes;
        byte[] records = data.toByteArray();
        int table = dataAt + records.length;
        int at = table + features.size() * 16;
        int total = at + features.values().stream().mapToInt(f -> f.length).sum();
        ByteBuffer b = buffer(total);
        b.put(magic()).putLong(104).putLong(entry).putLong(attrsAt).putLong((long) attrs.size() * entry);
        b.putLong(dataAt)
                .putLong(dataSize < 0 ? records.length : dataSize)
                .putLong(0)
                .putLong(0);
        long[] bits = new long[4];
        features.keySet().forEach(f -> bits[f / 64] |= 1L << (f % 64));
        for (long word : bits) {
            b.putLong(word);
        }
        int nextIds = idsAt;
        for (int i = 0; i < attrs.size(); i++) {
            b.put(attrs.get(i)).putLong(nextIds).putLong(ids.get(i).length * 8L);
            nextIds += ids.get(i).length * 8;
        }
        for (long[] list : ids) {
            for (long id : list) {
                b.putLong(id);
            }
        }
        b.put(records);
        for (byte[] feature : features.values()) {
            b.putLong(at).putLong(feature.length);
            at += feature.length;
        }
        features.values().forEach(b::put);
        return b.array();
    }

    private byte[] magic() {
        return (order == ByteOrder.BIG_ENDIAN ? "2ELIFREP" : "PERFILE2").getBytes(StandardCharsets.UTF_8);
    }

    /** Pipe mode: attributes, features and tracing data as records, then the records. */
    byte[] pipe() {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.writeBytes(buffer(16).put(magic()).putLong(16).array());
        for (int i = 0; i < attrs.size(); i++) {
            ByteBuffer b = buffer(attrs.get(i).length + ids.get(i).length * 8).put(attrs.get(i));
            for (long id : ids.get(i)) {
                b.putLong(id);
            }
            out.writeBytes(bytes(64, 0, b.array()));
        }
        features.forEach((number, content) -> {
            if (number == 1) {
                byte[] padded = java.util.Arrays.copyOf(content, (content.length + 7) & ~7);
                out.writeBytes(bytes(66, 0, buffer(4).putInt(padded.length).array()));
                out.writeBytes(padded);
            } else {
                out.writeBytes(bytes(
                        80,
                        0,
                        buffer(8 + content.length).putLong(number).put(content).array()));
            }
        });
        out.writeBytes(data.toByteArray());
        return out.toByteArray();
    }
}
