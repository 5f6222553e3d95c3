import com.alibaba.fastjson.JSON;
import com.alibaba.fastjson.JSONArray;
import com.alibaba.fastjson.JSONObject;
import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import org.apache.rocketmq.client.consumer.AllocateMessageQueueStrategy;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMachineRoomNearby;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueAveragely;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueAveragelyByCircle;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueByConfig;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueByMachineRoom;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueConsistentHash;
import org.apache.rocketmq.common.message.MessageQueue;

/**
 * What the client's strategy classes answer, one case for each line of standard input and one line for each answer.
 *
 * <p>A case is {"strategy":{…},"queues":[[topic,broker,id],…],"members":[…],"ask":[…]}. Both lists are sorted as the
 * rebalance sorts them, and the strategy is asked for each member of "ask". The answer is {"name":…,"shares":[…]} with
 * a share for each, in the strategy's order: numbers of the queues as they were given, from 0; for queues of a CONFIG
 * list -1, -2, … by that list. What was thrown stands in place of the share, or of everything if the strategy could
 * not be made.
 *
 * <p>The end of standard input ends the process.
 */
public final class Allocate {
    private final Map<MessageQueue, Integer> numbers = new IdentityHashMap<>();

    public static void main(String[] args) throws Exception {
        PrintStream out = new PrintStream(new FileOutputStream(FileDescriptor.out), false, StandardCharsets.UTF_8);
        System.setOut(System.err); // whatever a library prints must not meet the protocol
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            out.println(new Allocate().answer(JSON.parseObject(line)));
            out.flush();
        }
        Runtime.getRuntime().halt(0);
    }

    private String answer(JSONObject asked) {
        List<MessageQueue> queues = queues(asked.getJSONArray("queues"));
        for (int i = 0; i < queues.size(); i++) {
            numbers.put(queues.get(i), i);
        }
        List<String> members = texts(asked.getJSONArray("members"));
        Collections.sort(queues);
        Collections.sort(members);

        AllocateMessageQueueStrategy strategy;
        try {
            strategy = strategy(asked.getJSONObject("strategy"));
        } catch (Exception thrown) {
            return error(thrown);
        }
        StringBuilder shares = new StringBuilder();
        for (String me : texts(asked.getJSONArray("ask"))) {
            shares.append(shares.length() == 0 ? "" : ",").append(share(strategy, me, queues, members));
        }
        return "{\"name\":" + JSON.toJSONString(strategy.getName()) + ",\"shares\":[" + shares + "]}";
    }

    private String share(AllocateMessageQueueStrategy strategy, String me, List<MessageQueue> queues,
        List<String> members) {
        try {
            List<MessageQueue> share = strategy.allocate("group", me, queues, members);
            if (share == null) {
                return "null";
            }
            StringBuilder text = new StringBuilder("[");
            for (MessageQueue queue : share) {
                text.append(text.length() == 1 ? "" : ",").append(numbers.get(queue).intValue());
            }
            return text.append(']').toString();
        } catch (Exception thrown) {
            return error(thrown);
        }
    }

    private static String error(Exception thrown) {
        JSONObject error = new JSONObject(true);
        error.put("class", thrown.getClass().getSimpleName());
        error.put("message", thrown.getMessage());
        return "{\"error\":" + error.toJSONString() + "}";
    }

    private AllocateMessageQueueStrategy strategy(JSONObject rule) {
        switch (rule.getString("name")) {
            case "AVG":
                return new AllocateMessageQueueAveragely();
            case "AVG_BY_CIRCLE":
                return new AllocateMessageQueueAveragelyByCircle();
            case "CONSISTENT_HASH":
                return new AllocateMessageQueueConsistentHash(rule.getIntValue("virtualNodes"));
            case "MACHINE_ROOM": {
                AllocateMessageQueueByMachineRoom strategy = new AllocateMessageQueueByMachineRoom();
                if (rule.get("rooms") != null) {
                    strategy.setConsumeridcs(new HashSet<>(texts(rule.getJSONArray("rooms"))));
                }
                return strategy;
            }
            case "MACHINE_ROOM_NEARBY":
                return new AllocateMachineRoomNearby(strategy(rule.getJSONObject("inner")), resolver(rule));
            case "CONFIG": {
                AllocateMessageQueueByConfig strategy = new AllocateMessageQueueByConfig();
                if (rule.get("queues") != null) {
                    List<MessageQueue> listed = queues(rule.getJSONArray("queues"));
                    for (int i = 0; i < listed.size(); i++) {
                        numbers.put(listed.get(i), -1 - i);
                    }
                    strategy.setMessageQueueList(listed);
                }
                return strategy;
            }
            default:
                throw new IllegalArgumentException("unknown strategy");
        }
    }

    /** Rooms by the text before a separator, or by two tables. */
    private static AllocateMachineRoomNearby.MachineRoomResolver resolver(JSONObject rule) {
        String separator = rule.getString("separator");
        Map<String, String> brokers = table(rule.getJSONArray("brokerRooms"));
        Map<String, String> members = table(rule.getJSONArray("memberRooms"));
        return new AllocateMachineRoomNearby.MachineRoomResolver() {
            @Override
            public String brokerDeployIn(MessageQueue queue) {
                return separator == null ? brokers.get(queue.getBrokerName()) : before(queue.getBrokerName());
            }

            @Override
            public String consumerDeployIn(String clientId) {
                return separator == null ? members.get(clientId) : before(clientId);
            }

            private String before(String name) {
                int at = name.indexOf(separator);
                return at < 0 ? null : name.substring(0, at);
            }
        };
    }

    private static Map<String, String> table(JSONArray pairs) {
        Map<String, String> table = new HashMap<>();
        for (int i = 0; pairs != null && i < pairs.size(); i++) {
            table.put(pairs.getJSONArray(i).getString(0), pairs.getJSONArray(i).getString(1));
        }
        return table;
    }

    private static List<MessageQueue> queues(JSONArray list) {
        List<MessageQueue> queues = new ArrayList<>(list.size());
        for (int i = 0; i < list.size(); i++) {
            JSONArray queue = list.getJSONArray(i);
            queues.add(new MessageQueue(queue.getString(0), queue.getString(1), queue.getIntValue(2)));
        }
        return queues;
    }

    private static List<String> texts(JSONArray list) {
        List<String> texts = new ArrayList<>(list.size());
        for (int i = 0; i < list.size(); i++) {
            texts.add(list.getString(i));
        }
        return texts;
    }
}
