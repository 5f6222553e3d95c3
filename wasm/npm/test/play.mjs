// Plays name server and broker to the simulated consumer.

export const SETTINGS = {
  group: 'pay',
  client: '10.0.0.2@7',
  nameServers: ['ns:9876'],
  subscriptions: [{ topic: 'orders' }],
  strategy: 'avg',
  seed: 7,
};
export const BROADCASTING = { ...SETTINGS, model: 'broadcasting' };
const QUEUES = 8;
/** The queue that has a message, and the message's offset. */
const [FILLED, OFFSET] = [3, 41];

/** What name server and broker answer to a call, given who is in the group. `undefined`: nothing yet. */
function answer({ asks, command }, members) {
  switch (asks) {
    case 'GET_ROUTEINFO_BY_TOPIC': {
      if (command.extFields.topic !== 'orders') return { code: 17, remark: 'no such topic' };
      const route = {
        brokerDatas: [{ brokerAddrs: { 0: 'broker:10911' }, brokerName: 'broker-a', cluster: 'c' }],
        queueDatas: [{ brokerName: 'broker-a', perm: 6, readQueueNums: QUEUES, writeQueueNums: QUEUES, topicSysFlag: 0 }],
      };
      return { code: 0, text: JSON.stringify(route) };
    }
    case 'GET_CONSUMER_LIST_BY_GROUP':
      return { code: 0, text: JSON.stringify({ consumerIdList: members }) };
    case 'QUERY_CONSUMER_OFFSET':
      return { code: 0, extFields: { offset: '9007199254740993' } };
    case 'PULL_MESSAGE': {
      const { queueId, queueOffset } = command.extFields;
      if (Number(queueId) !== FILLED || Number(queueOffset) !== OFFSET) return undefined;
      const extFields = { nextBeginOffset: OFFSET + 1, minOffset: 0, maxOffset: OFFSET + 1, suggestWhichBrokerId: 0 };
      return { code: 0, extFields, body: stored() };
    }
    default:
      return { code: 0 };
  }
}

/** A message without a body as brokers store it, in hexadecimal digits. */
function stored() {
  const topic = Buffer.from('orders');
  const message = Buffer.alloc(91 + topic.length);
  message.writeInt32BE(message.length, 0);
  message.writeInt32BE(-626843481, 4);
  message.writeInt32BE(FILLED, 12);
  message.writeBigInt64BE(BigInt(OFFSET), 20);
  message.writeUInt8(topic.length, 88);
  topic.copy(message, 89);
  return message.toString('hex');
}

/** Runs the machine for 100 rounds of 20 s. Members come and go. The result is all inputs, all outputs. */
export function played(Simulation, settings = SETTINGS) {
  const member = new Simulation(settings);
  const [inputs, outputs] = [[], []];
  const step = (input, members = [SETTINGS.client]) => {
    const pending = [input];
    for (const next of pending) {
      inputs.push(next);
      const said = member.step(next);
      outputs.push(said);
      for (const output of said) {
        const command = output.type === 'call' ? answer(output, members) : undefined;
        if (command) pending.push({ at: next.at, type: 'reply', call: output.call, command });
        if (output.type === 'deliver') pending.push({ at: next.at, type: 'outcome', ticket: output.ticket, outcome: 'done' });
        if (output.type === 'save') pending.push({ at: next.at, type: 'saved' });
      }
    }
  };
  if (settings.model === 'broadcasting') {
    const queues = Array.from({ length: QUEUES }, (_, id) => ({ topic: 'orders', broker: 'broker-a', id }));
    step({ at: 0, type: 'localOffsets', offsets: queues.map((queue) => ({ queue, offset: OFFSET })) });
  }
  for (let round = 0; round < 100; round += 1) {
    const others = ['10.0.0.1@7', '10.0.0.3@7'].slice(0, Math.floor(round / 10) % 3);
    const members = [SETTINGS.client, ...others];
    const at = round * 20_000;
    if (round === 0) step({ at, type: 'start', wall: 1_700_000_000_000 }, members);
    step({ at, type: 'tick' }, members);
  }
  const [at, fields] = [2_000_000, { consumerGroup: SETTINGS.group, clientId: SETTINGS.client }];
  step({ at, type: 'peer', from: 'broker:10911', command: { code: 307, opaque: 5, extFields: fields } });
  step({ at, type: 'nameServers', addresses: ['ns2:9876'] });
  return { inputs, outputs };
}
