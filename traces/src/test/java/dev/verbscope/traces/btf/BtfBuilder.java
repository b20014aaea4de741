package dev.verbscope.traces.btf;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;

/** Builds type data by hand: what the kernel's build writes, in either byte order, whole or split. */
final class BtfBuilder {
    private final ByteOrder order;
    private final int stringStart;
    private int nextId;
    private final ByteArrayOutputStream types = new ByteArrayOutputStream();
    private final ByteArrayOutputStream strings = new ByteArrayOutputStream();
    private final Map<String, Integer> known = new LinkedHashMap<>();

    BtfBuilder(ByteOrder order) {
        this(order, 1, 0);
        strings.write(0);
        known.put("", 0);
    }

    private BtfBuilder(ByteOrder order, int firstId, int stringStart) {
        this.order = order;
        this.nextId = firstId;
        this.stringStart = stringStart;
    }

    /** Data that continue these. */
    BtfBuilder split() {
        BtfBuilder split = new BtfBuilder(order, nextId, stringStart + strings.size());
        split.known.putAll(known);
        return split;
    }

    private int string(String text) {
        Integer at = known.get(text);
        if (at == null) {
            at = stringStart + strings.size();
            strings.writeBytes((text + "\0").getBytes(StandardCharsets.UTF_8));
            known.put(text, at);
        }
        return at;
    }

    int type(String name, int kind, int vlen, int sizeOrType, int... more) {
        return type(name, kind, vlen, false, sizeOrType, more);
    }

    int type(String name, int kind, int vlen, boolean flag, int sizeOrType, int... more) {
        ByteBuffer out = ByteBuffer.allocate(12 + 4 * more.length).order(order);
        out.putInt(string(name))
                .putInt((flag ? 1 << 31 : 0) | kind << 24 | vlen)
                .putInt(sizeOrType);
        for (int word : more) {
            out.putInt(word);
        }
        types.writeBytes(out.array());
        return nextId++;
    }

    int integer(String name, int bytes) {
        return type(name, 1, 0, bytes, bytes * 8);
    }

    int pointer(int to) {
        return type("", 2, 0, to);
    }

    /** A structure; members are name, type, bit offset in turn. */
    int struct(String name, int bytes, Object... members) {
        return composite(name, 4, bytes, members);
    }

    int union(String name, int bytes, Object... members) {
        return composite(name, 5, bytes, members);
    }

    private int composite(String name, int kind, int bytes, Object... members) {
        int[] words = new int[members.length];
        for (int i = 0; i < members.length; i += 3) {
            words[i] = string((String) members[i]);
            words[i + 1] = (Integer) members[i + 1];
            words[i + 2] = (Integer) members[i + 2];
        }
        return type(name, kind, members.length / 3, bytes, words);
    }

    /** A function; parameters are name, type in turn. */
    int function(String name, int returns, Object... parameters) {
        int[] words = new int[parameters.length];
        for (int i = 0; i < parameters.length; i += 2) {
            words[i] = string((String) parameters[i]);
            words[i + 1] = (Integer) parameters[i + 1];
        }
        int proto = type("", 13, parameters.length / 2, returns, words);
        return type(name, 12, 0, proto);
    }

    byte[] build() {
        ByteBuffer out = ByteBuffer.allocate(24 + types.size() + strings.size()).order(order);
        out.putShort((short) 0xeb9f).put((byte) 1).put((byte) 0).putInt(24);
        out.putInt(0).putInt(types.size()).putInt(types.size()).putInt(strings.size());
        out.put(types.toByteArray()).put(strings.toByteArray());
        return out.array();
    }

    /** A kernel in small: lists in vmlinux, a QP with an id in it, and a function with parameters in a module. */
    static byte[][] kernel(ByteOrder order) {
        BtfBuilder vmlinux = new BtfBuilder(order);
        int u32 = vmlinux.integer("unsigned int", 4);
        int u64 = vmlinux.integer("long long unsigned int", 8);
        int alias = vmlinux.type("u64", 8, 0, u64);
        int list = vmlinux.struct("list_head", 16, "next", u64, 0, "prev", u64, 64);
        BtfBuilder module = vmlinux.split();
        int track = module.struct("rdma_restrack_entry", 72, "valid", u32, 0, "id", u32, 512);
        int trackConst = module.type("", 10, 0, track);
        int qp = module.struct(
                "ib_qp", 336, "device", u64, 0, "open_list", list, 1152, "qp_num", u32, 1728, "res", trackConst, 2048);
        int cqe = module.struct("ib_cqe", 8, "done", u64, 0);
        int anonymous = module.union("", 8, "wr_id", alias, 0, "wr_cqe", module.pointer(cqe), 0);
        int wr = module.struct("ib_recv_wr", 32, "next", u64, 0, "", anonymous, 64, "num_sge", u32, 192);
        // two bit fields of one bit each
        module.type(
                "ib_flags",
                4,
                2,
                true,
                4,
                module.string("interrupt"),
                u32,
                1 << 24,
                module.string("shared"),
                u32,
                1 << 24 | 1);
        int constWr = module.type("", 10, 0, wr);
        module.function(
                "rxe_post_recv",
                u32,
                "ibqp",
                module.pointer(qp),
                "wr",
                module.pointer(constWr),
                "bad_wr",
                module.pointer(module.pointer(constWr)));
        return new byte[][] {vmlinux.build(), module.build()};
    }
}
