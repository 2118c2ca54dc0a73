// A full query log, written by Cassandra's own logger without a server: requests of every shape that it can have, in two files
// (the first is ended, as at the end of an hour). Made to be read by iopslab's reader: crates/query_log/tests/full_query_log.rs.
// java ... FullQueryLog.java DIRECTORY

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import net.openhft.chronicle.queue.ChronicleQueue;
import net.openhft.chronicle.queue.ExcerptTailer;
import net.openhft.chronicle.queue.RollCycles;
import net.openhft.chronicle.queue.impl.single.SingleChronicleQueueBuilder;
import net.openhft.chronicle.wire.DocumentContext;
import org.apache.cassandra.config.DatabaseDescriptor;
import org.apache.cassandra.cql3.ColumnIdentifier;
import org.apache.cassandra.cql3.ColumnSpecification;
import org.apache.cassandra.cql3.QueryOptions;
import org.apache.cassandra.cql3.statements.BatchStatement;
import org.apache.cassandra.db.ConsistencyLevel;
import org.apache.cassandra.db.marshal.Int32Type;
import org.apache.cassandra.db.marshal.UTF8Type;
import org.apache.cassandra.fql.FullQueryLogger;
import org.apache.cassandra.service.ClientState;
import org.apache.cassandra.service.QueryState;
import org.apache.cassandra.transport.ProtocolVersion;
import org.apache.cassandra.utils.ByteBufferUtil;

public class FullQueryLog {
    static final long BEGIN_MS = 1_764_180_000_123L;
    /** A file for each second. */
    static final RollCycles CYCLE = RollCycles.TEST_SECONDLY;
    static final long PATIENCE_MS = 10_000;

    public static void main(String[] arguments) throws Exception {
        Path directory = Path.of(arguments[0]);
        DatabaseDescriptor.clientInitialization();
        FullQueryLogger logger = FullQueryLogger.instance;
        logger.enable(directory, CYCLE.name(), true, 1 << 20, 1L << 32, "", 0);

        // A value, null, one that was not set, and an empty one.
        String insert = "INSERT INTO carts (shopper, item, amount, note) VALUES (?, ?, ?, ?)";
        List<ByteBuffer> values = Arrays.asList(number(7), null, ByteBufferUtil.UNSET_BYTE_BUFFER, ByteBuffer.allocate(0));
        single(logger, insert, options(ConsistencyLevel.LOCAL_QUORUM, values, ConsistencyLevel.SERIAL, ProtocolVersion.V5), "shop", 0);
        // Of version 4, whose flags have one byte, with a level of its condition.
        String update = "UPDATE carts SET note = ? WHERE shopper = ? IF note = ?";
        values = List.of(text("gr\u00fcn"), number(-1), text("\uD83D\uDED2"));
        single(logger, update, options(ConsistencyLevel.QUORUM, values, ConsistencyLevel.LOCAL_SERIAL, ProtocolVersion.V4), "shop", 1);
        // Without a keyspace, with text of two, three and four bytes a letter in it.
        String select = "SELECT * FROM shop.carts WHERE note = '\u00fc\u20ac\uD83D\uDED2'";
        single(logger, select, options(ConsistencyLevel.ONE, List.of(), null, ProtocolVersion.V5), null, 2);
        // Named values, as a driver sends them: in another order than the markers.
        single(logger, "SELECT * FROM carts WHERE shopper = :shopper AND note = :note", named(), "shop", 3);
        written(directory, 4);

        // The first file is ended when the next record is written.
        Thread.sleep(1_100);
        List<String> queries = List.of("INSERT INTO carts (shopper, note) VALUES (?, ?)", "DELETE FROM carts WHERE shopper = 9;", update);
        List<List<ByteBuffer>> of_each = new ArrayList<>();
        of_each.add(List.of(number(1), text("x".repeat(300))));
        of_each.add(List.of());
        of_each.add(List.of(ByteBuffer.allocate(0), number(2), text("b")));
        QueryOptions batch = options(ConsistencyLevel.EACH_QUORUM, List.of(), null, ProtocolVersion.V5);
        logger.batchSuccess(BatchStatement.Type.UNLOGGED, List.of(), queries, of_each, batch, state("shop"), BEGIN_MS + 4, null);
        written(directory, 5);
        logger.stop();
        // Threads of Cassandra's and of Chronicle's stay.
        System.exit(0);
    }

    static void single(FullQueryLogger logger, String query, QueryOptions options, String keyspace, long after_ms) {
        logger.querySuccess(null, query, options, state(keyspace), BEGIN_MS + after_ms, null);
    }

    static QueryState state(String keyspace) {
        return new QueryState(keyspace == null ? ClientState.forInternalCalls() : ClientState.forInternalCalls(keyspace));
    }

    static QueryOptions options(ConsistencyLevel level, List<ByteBuffer> values, ConsistencyLevel serial, ProtocolVersion version) {
        return QueryOptions.create(level, values, false, 5_000, null, serial, version, null);
    }

    /** Read from the bytes of a request, and put into the order of the markers, as a server does it. */
    static QueryOptions named() {
        ByteBuf body = Unpooled.buffer();
        // LOCAL_ONE; values with names, each; how many.
        body.writeShort(10).writeInt(0x41).writeShort(2);
        named(body, "note", text("n"));
        named(body, "shopper", number(3));
        QueryOptions options = QueryOptions.codec.decode(body, ProtocolVersion.V5);
        return options.prepare(List.of(
            new ColumnSpecification("shop", "carts", new ColumnIdentifier("shopper", true), Int32Type.instance),
            new ColumnSpecification("shop", "carts", new ColumnIdentifier("note", true), UTF8Type.instance)));
    }

    static void named(ByteBuf body, String name, ByteBuffer value) {
        body.writeShort(name.length()).writeBytes(name.getBytes(StandardCharsets.UTF_8));
        body.writeInt(value.remaining()).writeBytes(value);
    }

    static ByteBuffer number(int number) {
        return ByteBufferUtil.bytes(number);
    }

    static ByteBuffer text(String text) {
        return ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
    }

    /** Waits until so many records are in the log: a logger that is stopped leaves out what it has not written yet. */
    static void written(Path directory, int records) throws InterruptedException {
        long until = System.currentTimeMillis() + PATIENCE_MS;
        try (ChronicleQueue queue = SingleChronicleQueueBuilder.single(directory.toFile()).rollCycle(CYCLE).build();
             ExcerptTailer tailer = queue.createTailer()) {
            int found = 0;
            while (found < records) {
                try (DocumentContext document = tailer.readingDocument()) {
                    if (document.isPresent()) {
                        found++;
                        continue;
                    }
                }
                if (System.currentTimeMillis() > until)
                    throw new IllegalStateException(found + " of " + records + " records were written, see above");
                Thread.sleep(10);
            }
        }
    }
}
