import com.alibaba.fastjson.JSON;
import com.alibaba.fastjson.JSONArray;
import com.alibaba.fastjson.JSONObject;
import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.MessageSelector;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.ConsumeOrderlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.consumer.listener.MessageListenerOrderly;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueAveragely;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueAveragelyByCircle;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueConsistentHash;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.SendCallback;
import org.apache.rocketmq.client.producer.SendResult;
import org.apache.rocketmq.client.producer.SendStatus;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageAccessor;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.message.MessageQueue;
import org.apache.rocketmq.tools.admin.DefaultMQAdminExt;

/**
 * The Java side of the tests: producers, consumers and administration, driven by JSON lines.
 *
 * <p>Each line of standard input is a command: {"cmd":…, "id":N, …}. Each is answered by exactly one line with the same
 * id, {"type":"done",…} or {"type":"error","error":…}; a consumer also prints lines of its own, which carry the id of
 * the command that started it. The end of standard input ends the process at once, so no peer outlives its test.
 *
 * <p>With {@code host CLASS ARGS…} as arguments it runs another main class under the same rule: a server whose test
 * died does not stay behind.
 */
public final class Peer {
    private static final LinkedBlockingQueue<String> OUT = new LinkedBlockingQueue<>();
    private static final Map<Long, DefaultMQPushConsumer> CONSUMERS = new ConcurrentHashMap<>();
    private static final Map<String, DefaultMQAdminExt> ADMINS = new ConcurrentHashMap<>();
    private static final ExecutorService COMMANDS = Executors.newCachedThreadPool(Peer::daemon);
    private static final ScheduledExecutorService TIMER = Executors.newScheduledThreadPool(1, Peer::daemon);
    /** Long: on a busy machine a send may wait for the broker's first page of a file, and a second try is a duplicate. */
    private static final long SEND_TIMEOUT = 30_000;
    private static final AtomicInteger INSTANCES = new AtomicInteger();

    public static void main(String[] args) throws Exception {
        if (args.length >= 2 && args[0].equals("host")) {
            host(args);
            return;
        }
        PrintStream out = new PrintStream(new FileOutputStream(FileDescriptor.out), false, StandardCharsets.UTF_8);
        System.setOut(System.err); // whatever a library prints must not meet the protocol
        daemon(() -> write(out)).start();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            if (line.isBlank()) {
                continue;
            }
            JSONObject command = JSON.parseObject(line);
            COMMANDS.submit(() -> run(command));
        }
        Runtime.getRuntime().halt(0);
    }

    private static void host(String[] args) throws Exception {
        String[] rest = java.util.Arrays.copyOfRange(args, 2, args.length);
        daemon(() -> {
            try {
                while (System.in.read() >= 0) { }
            } catch (Exception closed) {
                // the same as its end
            }
            Runtime.getRuntime().halt(3);
        }).start();
        Class.forName(args[1]).getMethod("main", String[].class).invoke(null, (Object) rest);
    }

    private static void run(JSONObject command) {
        JSONObject reply = new JSONObject(true);
        reply.put("type", "done");
        reply.put("id", command.get("id"));
        try {
            switch (command.getString("cmd")) {
                case "produce" -> new Producing(command).run(reply);
                case "consume" -> consume(command, reply);
                case "stop" -> stop(command.getLongValue("consumer"), reply);
                case "createTopic" -> createTopic(command);
                case "createGroup" -> createGroup(command);
                case "topicStats" -> topicStats(command, reply);
                case "consumeStats" -> consumeStats(command, reply);
                case "connections" -> reply.put("connections", JSON.toJSON(
                    admin(command).examineConsumerConnectionInfo(command.getString("group"))));
                case "runningInfo" -> reply.put("text", admin(command).getConsumerRunningInfo(
                    command.getString("group"), command.getString("clientId"), false).formatString());
                case "resetOffset" -> admin(command).resetOffsetByTimestamp(command.getString("topic"),
                    command.getString("group"), command.getLongValue("timestamp"), true);
                case "options" -> options(reply);
                case "payload" -> payload(command, reply);
                case "ping" -> { }
                case "shutdown" -> shutdown(reply);
                default -> throw new IllegalArgumentException("unknown command");
            }
        } catch (Throwable failure) {
            reply.clear();
            reply.put("type", "error");
            reply.put("id", command.get("id"));
            reply.put("error", command.getString("cmd") + ": " + failure);
            failure.printStackTrace();
        }
        say(reply);
    }

    // ---- payloads: the same generator stands in tests/src/payload.rs ----

    /** SplitMix64. */
    private static final class Rng {
        private long state;

        Rng(long seed) {
            state = seed;
        }

        long next() {
            state += 0x9E3779B97F4A7C15L;
            long z = state;
            z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
            z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
            return z ^ (z >>> 31);
        }

        int below(int bound) {
            return (int) ((next() >>> 33) % bound);
        }
    }

    private enum Shape { PLAIN, COMPRESSED, BATCHED, KEYED, UNICODE, TEXT }

    private static Shape shape(String kind, long seq) {
        return switch (kind) {
            case "mixed" -> Shape.values()[(int) (seq / 64 % 5)];
            case "text" -> Shape.TEXT;
            case "batch" -> Shape.BATCHED;
            case "bulk" -> switch ((int) (seq / 64 % 20)) {
                case 0 -> Shape.PLAIN;
                case 1 -> Shape.COMPRESSED;
                case 2 -> Shape.KEYED;
                case 3 -> Shape.UNICODE;
                default -> Shape.BATCHED;
            };
            default -> throw new IllegalArgumentException("kind must be mixed, text, batch or bulk, not " + kind);
        };
    }

    private static byte[] body(long seed, Shape shape, long seq) {
        Rng rng = new Rng(new Rng(seed).next() ^ seq);
        if (shape == Shape.TEXT) {
            StringBuilder text = new StringBuilder().append(seq).append(' ');
            for (int left = 8 + rng.below(32); left > 0; left--) {
                text.append((char) ('a' + rng.below(26)));
            }
            return text.toString().getBytes(StandardCharsets.UTF_8);
        }
        boolean compressed = shape == Shape.COMPRESSED;
        byte[] body = new byte[8 + (compressed ? 4096 + rng.below(4096) : rng.below(200))];
        ByteBuffer.wrap(body).putLong(seq);
        for (int at = 8; at < body.length; ) {
            long word = rng.next();
            for (int i = 0; i < 8 && at < body.length; i++, at++, word >>>= 8) {
                body[at] = compressed ? (byte) ('a' + (word & 15)) : (byte) word;
            }
        }
        return body;
    }

    private static Message message(String topic, long seed, Shape shape, long seq) {
        Message message = new Message(topic, body(seed, shape, seq));
        message.putUserProperty("seq", Long.toString(seq));
        if (shape == Shape.KEYED) {
            message.setTags("Tag" + (char) ('A' + seq % 4));
            message.setKeys("key-" + seq + " all");
        }
        if (shape == Shape.UNICODE) {
            message.setTags("标签");
            message.putUserProperty("ключ", "значение ✓ 😀 " + seq);
        }
        return message;
    }

    private static void payload(JSONObject command, JSONObject reply) {
        long seq = command.getLongValue("seq");
        byte[] body = body(command.getLongValue("seed"), shape(command.getString("kind"), seq), seq);
        reply.put("body", Base64.getEncoder().encodeToString(body));
    }

    // ---- producing ----

    /**
     * Sends seq first..first+count, message seq to queue seq % queues in the order of MessageQueue. Each queue has one
     * request in flight and the next follows from its callback: a queue holds its messages in the order of seq. With
     * "shards", a multiple of the queues, message seq has the sharding key seq % shards.
     */
    private static final class Producing {
        private final JSONObject command;
        private final String topic;
        private final String kind;
        private final long seed;
        private final long end;
        private final int batch;
        private final long shards;
        private final double perSecond;
        private final long start = System.nanoTime();
        private final long first;
        private final AtomicLong retried = new AtomicLong();
        private final LinkedBlockingQueue<Object> finished = new LinkedBlockingQueue<>();
        private DefaultMQProducer producer;
        private List<MessageQueue> queues;

        Producing(JSONObject command) {
            this.command = command;
            topic = command.getString("topic");
            kind = command.getString("kind") == null ? "mixed" : command.getString("kind");
            seed = command.getLongValue("seed");
            first = command.getLongValue("first");
            end = first + command.getLongValue("count");
            batch = command.containsKey("batch") ? command.getIntValue("batch") : 32;
            shards = command.getLongValue("shards");
            perSecond = command.getDoubleValue("rate");
        }

        void run(JSONObject reply) throws Exception {
            producer = new DefaultMQProducer("PEER_PRODUCER");
            producer.setNamesrvAddr(command.getString("namesrv"));
            if (command.containsKey("namespace")) {
                producer.setNamespace(command.getString("namespace"));
            }
            producer.setInstanceName("producer-" + ProcessHandle.current().pid() + "-" + INSTANCES.incrementAndGet());
            producer.setRetryTimesWhenSendAsyncFailed(0);
            producer.setVipChannelEnabled(false);
            producer.start();
            try {
                queues = fetchQueues();
                queues.sort(null);
                int wanted = command.getIntValue("queues");
                if (wanted > queues.size()) {
                    throw new IllegalStateException(topic + " has " + queues.size() + " queues, not " + wanted);
                }
                if (wanted > 0) {
                    queues = queues.subList(0, wanted);
                }
                List<Lane> lanes = new ArrayList<>();
                for (int i = 0; i < queues.size(); i++) {
                    lanes.add(new Lane(i));
                }
                lanes.forEach(Lane::step);
                for (int i = 0; i < lanes.size(); i++) {
                    if (finished.take() instanceof Throwable failure) {
                        throw new IllegalStateException(failure);
                    }
                }
                JSONArray counts = new JSONArray();
                long sent = 0;
                for (Lane lane : lanes) {
                    JSONObject count = queue(queues.get(lane.index));
                    count.put("sent", lane.sent);
                    counts.add(count);
                    sent += lane.sent;
                }
                reply.put("sent", sent);
                reply.put("retried", retried.get());
                reply.put("elapsedMs", (System.nanoTime() - start) / 1_000_000);
                reply.put("queues", counts);
            } finally {
                producer.shutdown();
            }
        }

        /** Java asks once, and a name server on a busy machine may not answer in its 3 s. */
        private List<MessageQueue> fetchQueues() throws Exception {
            for (int tries = 1; ; tries++) {
                try {
                    return new ArrayList<>(producer.fetchPublishMessageQueues(topic));
                } catch (MQClientException e) {
                    if (tries == 3) {
                        throw e;
                    }
                    Thread.sleep(1_000);
                }
            }
        }

        private Message message(long seq) {
            Message message = Peer.message(topic, seed, shape(kind, seq), seq);
            if (shards > 0) {
                MessageAccessor.putProperty(message, "__SHARDINGKEY", Long.toString(seq % shards));
            }
            return message;
        }

        private final class Lane implements SendCallback {
            final int index;
            long next;
            long sent;
            int failures;
            List<Message> current = List.of();

            Lane(int index) {
                this.index = index;
                int queues = Producing.this.queues.size();
                next = first + Math.floorMod(index - first, (long) queues);
            }

            void step() {
                try {
                    current = take();
                    if (current.isEmpty()) {
                        finished.add(this);
                    } else {
                        later();
                    }
                } catch (Throwable failure) {
                    finished.add(failure);
                }
            }

            private List<Message> take() {
                List<Message> messages = new ArrayList<>();
                while (next < end && messages.size() < batch) {
                    Shape shape = shape(kind, next);
                    boolean alone = shape == Shape.PLAIN || shape == Shape.COMPRESSED || shape == Shape.TEXT;
                    if (alone && !messages.isEmpty()) {
                        break;
                    }
                    messages.add(message(next));
                    next += queues.size();
                    if (alone) {
                        break;
                    }
                }
                return messages;
            }

            private void later() {
                long due = perSecond <= 0 ? 0 : start + (long) ((next - queues.size() - first) / perSecond * 1e9);
                long wait = due - System.nanoTime();
                if (perSecond > 0 && wait > 0) {
                    TIMER.schedule(this::send, wait, TimeUnit.NANOSECONDS);
                } else {
                    send();
                }
            }

            private void send() {
                try {
                    if (current.size() == 1) {
                        producer.send(current.get(0), queues.get(index), this, SEND_TIMEOUT);
                    } else {
                        producer.send(List.copyOf(current), queues.get(index), this, SEND_TIMEOUT);
                    }
                } catch (Throwable failure) {
                    onException(failure);
                }
            }

            @Override
            public void onSuccess(SendResult result) {
                if (result.getSendStatus() != SendStatus.SEND_OK) {
                    onException(new IllegalStateException(result.toString()));
                    return;
                }
                sent += current.size();
                failures = 0;
                COMMANDS.execute(this::step);
            }

            @Override
            public void onException(Throwable failure) {
                // A lost answer may leave a copy at the broker: `retried` > 0 tells the test that it may.
                retried.incrementAndGet();
                System.err.println("send to " + queues.get(index) + " failed: " + failure);
                if (++failures >= 300) {
                    finished.add(failure);
                    return;
                }
                long seq = next;
                current = rebuild();
                next = seq;
                TIMER.schedule(this::send, 100, TimeUnit.MILLISECONDS);
            }

            /** The client compresses bodies in place and marks properties, so a second try starts from new messages. */
            private List<Message> rebuild() {
                List<Message> again = new ArrayList<>();
                for (Message message : current) {
                    again.add(message(Long.parseLong(message.getUserProperty("seq"))));
                }
                return again;
            }
        }
    }

    // ---- consuming ----

    private static void consume(JSONObject command, JSONObject reply) throws Exception {
        long id = command.getLongValue("id");
        Listener listener = new Listener(command);
        DefaultMQPushConsumer consumer = prepared(command, listener);
        for (int tries = 1; ; tries++) {
            try {
                consumer.start();
                break;
            } catch (IllegalStateException | MQClientException e) {
                // Java gives a start up when its first request could not be written, which a busy machine can cause.
                if (tries == 3 || !e.toString().contains("RemotingSendRequestException")) {
                    throw e;
                }
                consumer.shutdown();
                Thread.sleep(1_000);
                consumer = prepared(command, listener);
            }
        }
        DefaultMQPushConsumer started = consumer;
        CONSUMERS.put(id, started);
        reply.put("clientId", started.buildMQClientId());
        daemon(() -> watch(id, started)).start();
    }

    private static DefaultMQPushConsumer prepared(JSONObject command, Listener listener) throws MQClientException {
        DefaultMQPushConsumer consumer = new DefaultMQPushConsumer(command.getString("group"));
        // Else a stop does not wait for listeners, and what they finish a moment later is not committed.
        consumer.setAwaitTerminationMillisWhenShutdown(10_000);
        consumer.setNamesrvAddr(command.getString("namesrv"));
        if (command.containsKey("namespace")) {
            consumer.setNamespace(command.getString("namespace"));
        }
        String instance = command.getString("instance");
        consumer.setInstanceName(instance != null ? instance
            : "peer-" + ProcessHandle.current().pid() + "-" + INSTANCES.incrementAndGet());
        consumer.setClientIP(command.containsKey("clientIp") ? command.getString("clientIp") : "127.0.0.1");
        consumer.setVipChannelEnabled(false);
        consumer.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        if (command.containsKey("threads")) {
            consumer.setConsumeThreadMin(command.getIntValue("threads"));
            consumer.setConsumeThreadMax(command.getIntValue("threads"));
        }
        if (command.containsKey("batch")) {
            consumer.setConsumeMessageBatchMaxSize(command.getIntValue("batch"));
        }
        if (command.containsKey("maxReconsumeTimes")) {
            consumer.setMaxReconsumeTimes(command.getIntValue("maxReconsumeTimes"));
        }
        if (command.getBooleanValue("broadcast")) {
            var model = consumer.getMessageModel(); // its package differs between 4.9 and 5.x
            consumer.setMessageModel(Enum.valueOf(model.getDeclaringClass(), "BROADCASTING"));
        }
        if (command.containsKey("clientRebalance")) { // since 5.0
            try {
                DefaultMQPushConsumer.class.getMethod("setClientRebalance", boolean.class)
                    .invoke(consumer, command.getBooleanValue("clientRebalance"));
            } catch (ReflectiveOperationException e) {
                throw new IllegalArgumentException("this client has no clientRebalance", e);
            }
        }
        if (command.containsKey("strategy")) {
            consumer.setAllocateMessageQueueStrategy(switch (command.getString("strategy")) {
                case "AVG" -> new AllocateMessageQueueAveragely();
                case "AVG_BY_CIRCLE" -> new AllocateMessageQueueAveragelyByCircle();
                case "CONSISTENT_HASH" -> new AllocateMessageQueueConsistentHash();
                default -> throw new IllegalArgumentException("unknown strategy");
            });
        }
        JSONArray topics = command.containsKey("topics") ? command.getJSONArray("topics") : new JSONArray();
        if (command.containsKey("topic")) {
            topics.add(command.getString("topic"));
        }
        for (Object topic : topics) {
            if (command.containsKey("sql")) {
                consumer.subscribe(topic.toString(), MessageSelector.bySql(command.getString("sql")));
            } else {
                String expression = command.containsKey("expression") ? command.getString("expression") : "*";
                consumer.subscribe(topic.toString(), expression);
            }
        }
        if (command.getBooleanValue("orderly")) {
            consumer.registerMessageListener((MessageListenerOrderly) (messages, context) ->
                listener.all(messages) ? ConsumeOrderlyStatus.SUCCESS : ConsumeOrderlyStatus.SUSPEND_CURRENT_QUEUE_A_MOMENT);
        } else {
            consumer.registerMessageListener((MessageListenerConcurrently) (messages, context) ->
                listener.all(messages) ? ConsumeConcurrentlyStatus.CONSUME_SUCCESS : ConsumeConcurrentlyStatus.RECONSUME_LATER);
        }
        return consumer;
    }

    private static final class Listener {
        private final long id;
        private final boolean checks;
        private final long seed;
        private final String kind;
        private final long failEvery;
        private final long delay;
        private final boolean bodies;

        Listener(JSONObject command) {
            id = command.getLongValue("id");
            checks = command.containsKey("seed");
            seed = command.getLongValue("seed");
            kind = command.containsKey("kind") ? command.getString("kind") : "mixed";
            failEvery = command.getLongValue("failEvery");
            delay = command.getLongValue("delayMs");
            bodies = command.getBooleanValue("bodies");
        }

        boolean all(List<MessageExt> messages) {
            boolean good = true;
            for (MessageExt message : messages) {
                good &= one(message);
            }
            return good;
        }

        private boolean one(MessageExt message) {
            try {
                if (delay > 0) {
                    Thread.sleep(delay);
                }
                String number = message.getUserProperty("seq");
                long seq = number == null ? -1 : Long.parseLong(number);
                boolean fails = failEvery > 0 && seq >= 0 && seq % failEvery == 0 && message.getReconsumeTimes() == 0;
                JSONObject line = new JSONObject(true);
                line.put("type", "message");
                line.put("id", id);
                line.put("seq", seq);
                if (checks) {
                    line.put("ok", MessageDigest.isEqual(body(seed, shape(kind, seq), seq), message.getBody()));
                }
                line.put("sha256", hex(MessageDigest.getInstance("SHA-256").digest(message.getBody())));
                line.put("topic", message.getTopic());
                line.put("broker", message.getBrokerName());
                line.put("queue", message.getQueueId());
                line.put("offset", message.getQueueOffset());
                line.put("msgId", message.getMsgId());
                line.put("reconsumeTimes", message.getReconsumeTimes());
                line.put("tags", message.getTags());
                line.put("keys", message.getKeys());
                line.put("props", message.getProperties());
                if (bodies) {
                    line.put("body", Base64.getEncoder().encodeToString(message.getBody()));
                }
                line.put("fails", fails);
                say(line);
                return !fails;
            } catch (Exception failure) {
                failure.printStackTrace();
                return false;
            }
        }
    }

    /** Prints the queues that a consumer owns whenever they change. */
    private static void watch(long id, DefaultMQPushConsumer consumer) {
        JSONArray before = null;
        try {
            while (CONSUMERS.get(id) == consumer) {
                Map<MessageQueue, Boolean> owned = new TreeMap<>();
                var table = consumer.getDefaultMQPushConsumerImpl().getRebalanceImpl().getProcessQueueTable();
                for (var entry : table.entrySet()) {
                    if (!entry.getValue().isDropped()) {
                        owned.put(entry.getKey(), true);
                    }
                }
                JSONArray now = new JSONArray();
                owned.keySet().forEach(queue -> now.add(queue(queue)));
                if (!now.equals(before)) {
                    JSONObject line = new JSONObject(true);
                    line.put("type", "assigned");
                    line.put("id", id);
                    line.put("queues", now);
                    say(line);
                    before = now;
                }
                Thread.sleep(50);
            }
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
    }

    private static void stop(long id, JSONObject reply) {
        DefaultMQPushConsumer consumer = CONSUMERS.remove(id);
        if (consumer == null) {
            throw new IllegalArgumentException("no consumer " + id);
        }
        consumer.shutdown();
        reply.put("stopped", id);
    }

    // ---- administration ----

    private static synchronized DefaultMQAdminExt admin(JSONObject command) throws Exception {
        String namesrv = command.getString("namesrv");
        DefaultMQAdminExt admin = ADMINS.get(namesrv);
        if (admin == null) {
            admin = new DefaultMQAdminExt(10_000);
            admin.setNamesrvAddr(namesrv);
            admin.setVipChannelEnabled(false);
            admin.setInstanceName("admin-" + ProcessHandle.current().pid() + "-" + INSTANCES.incrementAndGet());
            admin.start();
            ADMINS.put(namesrv, admin);
        }
        return admin;
    }

    private static Set<String> masters(DefaultMQAdminExt admin) throws Exception {
        Set<String> addresses = new java.util.TreeSet<>();
        for (var broker : admin.examineBrokerClusterInfo().getBrokerAddrTable().values()) {
            addresses.add(broker.getBrokerAddrs().get(0L));
        }
        return addresses;
    }

    private static void createTopic(JSONObject command) throws Exception {
        DefaultMQAdminExt admin = admin(command);
        var config = new org.apache.rocketmq.common.TopicConfig(command.getString("topic"));
        config.setReadQueueNums(command.getIntValue("queues"));
        config.setWriteQueueNums(command.getIntValue("queues"));
        if (command.containsKey("perm")) {
            config.setPerm(command.getIntValue("perm"));
        }
        for (String address : masters(admin)) {
            admin.createAndUpdateTopicConfig(address, config);
        }
    }

    private static void createGroup(JSONObject command) throws Exception {
        DefaultMQAdminExt admin = admin(command);
        for (String address : masters(admin)) {
            // The class moved between 4.9 and 5.x: take it from what the broker answers.
            var table = admin.getAllSubscriptionGroup(address, 10_000).getSubscriptionGroupTable();
            var config = table.values().iterator().next();
            config.setGroupName(command.getString("group"));
            config.setConsumeEnable(true);
            config.setConsumeBroadcastEnable(true);
            if (command.containsKey("retryMaxTimes")) {
                config.setRetryMaxTimes(command.getIntValue("retryMaxTimes"));
            }
            if (command.containsKey("consumeEnable")) {
                config.setConsumeEnable(command.getBooleanValue("consumeEnable"));
            }
            admin.createAndUpdateSubscriptionGroupConfig(address, config);
        }
    }

    private static void topicStats(JSONObject command, JSONObject reply) throws Exception {
        JSONArray rows = new JSONArray();
        var table = admin(command).examineTopicStats(command.getString("topic")).getOffsetTable();
        for (var entry : new TreeMap<>(table).entrySet()) {
            JSONObject row = queue(entry.getKey());
            row.put("min", entry.getValue().getMinOffset());
            row.put("max", entry.getValue().getMaxOffset());
            rows.add(row);
        }
        reply.put("queues", rows);
    }

    private static void consumeStats(JSONObject command, JSONObject reply) throws Exception {
        JSONArray rows = new JSONArray();
        var table = admin(command).examineConsumeStats(command.getString("group"), command.getString("topic"))
            .getOffsetTable();
        for (var entry : new TreeMap<>(table).entrySet()) {
            JSONObject row = queue(entry.getKey());
            row.put("brokerOffset", entry.getValue().getBrokerOffset());
            row.put("consumerOffset", entry.getValue().getConsumerOffset());
            rows.add(row);
        }
        reply.put("queues", rows);
    }

    /** What a consumer can be set to, and the defaults of what is a number, a text or a truth. */
    private static void options(JSONObject reply) throws Exception {
        DefaultMQPushConsumer consumer = new DefaultMQPushConsumer("OPTIONS");
        JSONObject options = new JSONObject();
        for (Method setter : DefaultMQPushConsumer.class.getMethods()) {
            if (!setter.getName().startsWith("set") || setter.getParameterCount() != 1) {
                continue;
            }
            String name = setter.getName().substring(3);
            Object value = null;
            for (String prefix : new String[] {"get", "is"}) {
                try {
                    value = DefaultMQPushConsumer.class.getMethod(prefix + name).invoke(consumer);
                } catch (NoSuchMethodException e) {
                    // The other prefix, or none.
                }
            }
            boolean plain = value instanceof Number || value instanceof Boolean || value instanceof String;
            options.put(name, plain ? value.toString() : "");
        }
        reply.put("options", options);
    }

    private static void shutdown(JSONObject reply) {
        CONSUMERS.keySet().forEach(id -> stop(id, reply));
        reply.remove("stopped");
        ADMINS.values().forEach(DefaultMQAdminExt::shutdown);
        TIMER.schedule(() -> Runtime.getRuntime().halt(0), 200, TimeUnit.MILLISECONDS); // after the reply is out
    }

    // ---- small things ----

    private static JSONObject queue(MessageQueue queue) {
        JSONObject json = new JSONObject(true);
        json.put("topic", queue.getTopic());
        json.put("broker", queue.getBrokerName());
        json.put("queue", queue.getQueueId());
        return json;
    }

    private static String hex(byte[] bytes) {
        return java.util.HexFormat.of().formatHex(bytes);
    }

    private static void say(JSONObject line) {
        OUT.add(line.toJSONString());
    }

    private static void write(PrintStream out) {
        try {
            while (true) {
                String line = OUT.take();
                for (; line != null; line = OUT.poll()) {
                    out.print(line);
                    out.print('\n');
                }
                out.flush();
            }
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
    }

    private static Thread daemon(Runnable work) {
        Thread thread = new Thread(work);
        thread.setDaemon(true);
        return thread;
    }
}
