import t from 'tap'
import type { HealthFacts, NatsFacts, PostgresFacts } from '../../../../control-plane/operations/health/facts.ts'
import { assessHealth, isAllHealthy } from '../../../../control-plane/operations/health/findings/all-findings.ts'
import { formatReport, toReportDocument } from '../../../../control-plane/operations/health/report.ts'

const NOW = Date.parse('2026-05-01T12:00:00.000Z')
const ago = (seconds: number) => NOW - seconds * 1_000
const GIB = 1024 ** 3

const postgres: PostgresFacts = {
  nowMs: NOW,
  isReadOnly: false,
  partitions: Array.from({ length: 16 }, (_, id) => ({
    ...{ id, hasOwner: true, leaseUntilMs: ago(-5), position: 900, positionAtMs: ago(4), streamCreated: 'x' },
  })),
  regions: [
    {
      ...{ region: 'us-east', monitors: 40, unassigned: 0, liveProbes: 2 },
      ...{ noLiveProbeSinceMs: null, lastHeartbeatAtMs: ago(2) },
    },
    // no monitor uses it, and its last probe left days ago
    {
      ...{ region: 'ap-northeast', monitors: 0, unassigned: 0, liveProbes: 0 },
      ...{ noLiveProbeSinceMs: ago(900_000), lastHeartbeatAtMs: ago(900_000) },
    },
  ],
  probes: [{ name: 'a', region: 'us-east', spoolResults: 0, droppedResults: 3, connectivityOk: true }],
  foreignReports: [],
  deliveriesDue: { count: 1, sinceMs: ago(1) },
  fanOuts: { count: 0, sinceMs: null },
  heartbeats: { monitors: 7, listeningAtMs: ago(3) },
  lastTransitionAtMs: ago(600),
  plannedOutages: { kept: 48, missed: 0, lastMiss: null },
  standbys: [{ name: 'standby-1', isConnected: true, state: 'streaming', behindMs: 20 }],
}
const stream = {
  ...{ bytes: GIB, maxBytes: 16 * GIB, refusesWhenFull: false, messages: 1_000, lastSequence: 1_000 },
  ...{ firstAtMs: ago(86_400), lastAtMs: ago(1), replicasBehind: [] },
}
const nats: NatsFacts = {
  nowMs: NOW,
  streams: [
    { name: 'RESULTS', ...stream },
    { name: 'PINGS', ...stream, messages: 0, bytes: 0, firstAtMs: 0, lastAtMs: 0, refusesWhenFull: true },
  ],
  missingStreams: [],
  uncounted: new Map([[4, { takenAtMs: ago(2) }]]),
  recorders: [
    { stream: 'RESULTS', waiting: 12, oldestAtMs: ago(3) },
    { stream: 'LATE', waiting: 0, oldestAtMs: null },
  ],
  unread: { streams: [], recorders: [], partitions: [], clock: false },
}
const clock = (name: string, seconds = 0.1) => ({ name, aheadMs: seconds * 1_000 })
const healthy: HealthFacts = {
  machineMs: NOW,
  clocks: [clock('PostgreSQL'), clock('JetStream', -1), clock('ClickHouse')],
  postgres,
  isStandby: false,
  nats,
  clickhouse: { nowMs: NOW, lastRecordedAtMs: ago(2) },
}

const withPostgres = (change: Partial<PostgresFacts>): HealthFacts => ({
  ...healthy,
  postgres: { ...postgres, ...change },
})
const withNats = (change: Partial<NatsFacts>): HealthFacts => ({ ...healthy, nats: { ...nats, ...change } })
const withStream = (name: string, change: object): HealthFacts =>
  withNats({ streams: nats.streams.map(one => (one.name === name ? { ...one, ...change } : one)) })
const withRegion = (change: object): HealthFacts => withPostgres({ regions: [{ ...postgres.regions[0]!, ...change }] })
const withProbe = (change: object): HealthFacts => withPostgres({ probes: [{ ...postgres.probes[0]!, ...change }] })
const withStandby = (change: object): HealthFacts =>
  withPostgres({ standbys: [{ ...postgres.standbys[0]!, ...change }] })
/** The last miss was measured `seconds` ago, 10 minutes after it began. */
const withMiss = (seconds: number, lateSeconds: number | null): HealthFacts => {
  const times = { startedAtMs: ago(seconds + 600), measuredAtMs: ago(seconds) }
  return withPostgres({ plannedOutages: { kept: 46, missed: 2, lastMiss: { kind: 'hang', lateSeconds, ...times } } })
}
const withoutOwner = (...ids: number[]): HealthFacts =>
  withPostgres({
    partitions: postgres.partitions.map(one =>
      ids.includes(one.id) ? { ...one, hasOwner: false, leaseUntilMs: ago(90 + one.id) } : one,
    ),
  })
const listProblems = (facts: HealthFacts) => assessHealth(facts).filter(finding => !finding.isHealthy)

t.test('A healthy installation has no problems', async t => {
  t.same(listProblems(healthy), [])
  t.ok(isAllHealthy(assessHealth(healthy)))
  const words = formatReport(assessHealth(healthy), NOW)
  t.match(words, /^No problems found\.\n/)
  t.match(words, 'All 16 partitions of results have an owner')
  t.match(words, 'Results are counted as they arrive; the newest arrived 1 second ago')
  t.match(words, 'Live probes by region: us-east 2.')
  t.match(words, 'the last status change was 10 minutes ago')
})

t.test('Each failure is one finding with its beginning', async t => {
  const cases: [HealthFacts, string, string, number | null][] = [
    [{ ...healthy, postgres: null }, 'postgres', 'PostgreSQL does not answer', null],
    [
      { ...healthy, postgres: null, isStandby: true },
      'postgres',
      'PostgreSQL is a standby and accepts no writes',
      null,
    ],
    [
      withPostgres({ isReadOnly: true }),
      'postgres',
      'PostgreSQL accepts no writes: default_transaction_read_only is on',
      null,
    ],
    [{ ...healthy, nats: null }, 'nats', 'NATS does not answer', null],
    [{ ...healthy, clickhouse: null }, 'clickhouse', 'ClickHouse does not answer', null],
    [withoutOwner(3, 9), 'partitions', 'No process reads 2 of 16 partitions of results: 3, 9', ago(99)],
    [
      withNats({
        uncounted: new Map([
          [4, { takenAtMs: ago(2) }],
          [7, { takenAtMs: ago(45) }],
        ]),
      }),
      ...(['verdicts', 'Results arrive, but 1 of 16 partitions do not keep up: 7', ago(45)] as const),
    ],
    [
      withRegion({ liveProbes: 0, noLiveProbeSinceMs: ago(70) }),
      ...(['regions', 'Region us-east has no live probe; 40 monitors use it', ago(70)] as const),
    ],
    [withRegion({ unassigned: 5 }), 'regions', 'No live probe of us-east can check 5 of 40 monitors', null],
    [
      withProbe({ spoolResults: 812 }),
      'probes',
      'The probe a of us-east could not publish 812 results and stores them on its disk; 3 were lost since it started',
      null,
    ],
    [
      withProbe({ connectivityOk: false }),
      ...([
        'probes',
        'The probe a of us-east reports that its own connection to the internet, or its resolver, does not work',
        null,
      ] as const),
    ],
    [
      withStream('PINGS', { bytes: 250, maxBytes: 256, messages: 3, firstAtMs: ago(30) }),
      ...(['streams', 'PINGS holds 0 MiB, 98 % of its size', ago(30)] as const),
    ],
    [
      withNats({ streams: [{ name: 'OBJ_SCREENSHOTS', ...stream, bytes: 15 * GIB, refusesWhenFull: true }] }),
      ...(['streams', 'OBJ_SCREENSHOTS holds 15360 MiB, 94 % of its size', stream.firstAtMs] as const),
    ],
    [
      withStream('RESULTS', { bytes: 15.9 * GIB, firstAtMs: ago(1_801) }),
      ...(['streams', 'RESULTS holds 16282 MiB, 99 % of its size, and reaches back only 30 minutes', null] as const),
    ],
    [withNats({ missingStreams: ['PINGS'] }), ...(['streams', 'NATS has no stream PINGS', null] as const)],
    [
      withStream('RESULTS', { replicasBehind: ['nats-2'] }),
      ...(['streams', 'The replica of RESULTS on nats-2 is unreachable or not up to date', null] as const),
    ],
    [
      withStream('PINGS', { messages: 4, firstAtMs: ago(61) }),
      ...(['heartbeats', '4 heartbeat pings are acknowledged and not stored yet', ago(61)] as const),
    ],
    [
      withNats({ recorders: [{ stream: 'RESULTS', waiting: 700, oldestAtMs: ago(301) }] }),
      ...(['history', '700 messages of RESULTS are not written to ClickHouse yet', ago(301)] as const),
    ],
    [
      withPostgres({ deliveriesDue: { count: 12, sinceMs: ago(61) } }),
      ...(['deliveries', 'Deliveries in 12 lanes are due and not attempted', ago(61)] as const),
    ],
    [
      withPostgres({ fanOuts: { count: 2, sinceMs: ago(61) } }),
      ...(['fan_outs', '2 events wait until their deliveries are queued', ago(61)] as const),
    ],
    [
      withPostgres({ heartbeats: { monitors: 7, listeningAtMs: ago(61) } }),
      ...(['heartbeats', 'No process accepts the pings of 7 heartbeat monitors', ago(61)] as const),
    ],
    [
      withMiss(3_500, 12.4),
      ...([
        'guarantee',
        '2 of 48 planned outages of the last day were reported later than guaranteed, or never; the last one (hang) 12 seconds late',
        ago(4_100),
      ] as const),
    ],
    [
      withMiss(10, null),
      ...([
        'guarantee',
        '2 of 48 planned outages of the last day were reported later than guaranteed, or never; the last one (hang) never',
        ago(610),
      ] as const),
    ],
    [
      withStandby({ state: null, isConnected: false }),
      'replication',
      'The standby standby-1 of PostgreSQL is not connected, and its replication slot retains WAL',
      null,
    ],
    [
      withStandby({ state: 'catchup' }),
      'replication',
      'The standby standby-1 of PostgreSQL is not streaming: catchup',
      null,
    ],
    [withStandby({ behindMs: 61_000 }), 'replication', 'The standby standby-1 of PostgreSQL is behind', ago(61)],
  ]
  for (const [facts, subject, text, sinceMs] of cases) {
    const problems = listProblems(facts)
    t.match(problems, [{ subject, text, sinceMs, todo: /^[A-Z].+[.?]$/ }], text)
    t.equal(problems.length, 1, text)
  }
})

t.test('Partitions without an owner are reported while NATS is away', t => {
  const found = listProblems({ ...withoutOwner(3, 9), nats: null })
  t.same(
    found.map(({ text }) => text),
    ['NATS does not answer', 'No process reads 2 of 16 partitions of results: 3, 9'],
  )
  t.end()
})

t.test('The findings of questions that NATS did not answer are unknown, and only those', t => {
  const without = (unread: Partial<NatsFacts['unread']>, change: Partial<NatsFacts> = {}) =>
    withNats({ ...change, unread: { ...nats.unread, ...unread } })
  const lost = (name: string) => nats.streams.filter(one => one.name !== name)
  const why = ', because NATS did not answer this question'
  const cases: [HealthFacts, ...[subject: string, text: string][]][] = [
    [
      without({ streams: ['PINGS'] }, { streams: lost('PINGS') }),
      ['streams', `It is unknown how full PINGS is and whether it exists${why}`],
      ['heartbeats', `It is unknown whether heartbeat pings wait to be stored${why}`],
    ],
    [
      without({ recorders: ['LATE'] }, { recorders: nats.recorders.slice(0, 1) }),
      ['history', `It is unknown how long messages of LATE have waited for ClickHouse${why}`],
    ],
    [without({ partitions: [2, 5] }), ['verdicts', `It is unknown whether 2 of 16 partitions keep up (2, 5)${why}`]],
    [
      without({ partitions: [2] }, { uncounted: new Map([[7, { takenAtMs: ago(45) }]]) }),
      ['verdicts', 'Results arrive, but 1 of 16 partitions do not keep up: 7'],
      ['verdicts', `It is unknown whether 1 of 16 partitions keep up (2)${why}`],
    ],
    [
      // the clock that gave the messages their times
      without({ clock: true }, { nowMs: null }),
      ['clocks', `It is unknown what time it is by the clock of JetStream${why}`],
      ['verdicts', "It is unknown whether 1 of 16 partitions keep up (4), because JetStream's time is unknown"],
      [
        'history',
        "It is unknown how long messages of RESULTS have waited for ClickHouse, because JetStream's time is unknown",
      ],
    ],
  ]
  for (const [facts, ...expected] of cases) {
    const found = listProblems(facts)
    t.same(
      found.map(({ subject, text }) => [subject, text]),
      expected,
    )
    const subjects = assessHealth(facts).flatMap(({ subject, isHealthy }) => (isHealthy ? [subject] : []))
    // pings are accepted, although it is unknown whether some wait
    for (const [subject] of expected)
      if (!['clocks', 'heartbeats'].includes(subject)) t.notOk(subjects.includes(subject as never))
  }
  t.end()
})

t.test('A missing stream names the loop that creates it', t => {
  const todos = listProblems(withNats({ missingStreams: ['LATE', 'CLOCK'] })).map(({ todo }) => todo)
  t.match(todos, [/"nats-streams"/, /"engine-clocks"/])
  t.end()
})

t.test('While ClickHouse is away, nothing is claimed about its newest result', t => {
  const [finding] = assessHealth({ ...healthy, clickhouse: null }).filter(({ subject }) => subject === 'history')
  t.match(finding, { isHealthy: true, text: 'No result has waited long to be written to ClickHouse' })
  t.end()
})

t.test('A wrong clock is in each finding about clocks', async t => {
  const texts = (clocks: HealthFacts['clocks']) => listProblems({ ...healthy, clocks }).map(({ text }) => text)
  t.same(texts([clock('PostgreSQL', 2.9), clock('JetStream')]), [])
  t.same(texts([clock('PostgreSQL'), clock('JetStream', 600)]), [
    'The clock of JetStream is 10 minutes ahead of that of this machine',
    'The clock of JetStream is 10 minutes ahead of that of PostgreSQL',
  ])
  t.same(texts([clock('PostgreSQL', -5), clock('JetStream', -5)]), [
    'The clock of PostgreSQL is 5 seconds behind that of this machine',
    'The clock of JetStream is 5 seconds behind that of this machine',
  ])
})

t.test('Normal conditions are not problems', async t => {
  const normal: [HealthFacts, string][] = [
    [withStream('RESULTS', { bytes: 16 * GIB }), 'a full stream of results that reaches back a day'],
    [withStream('RESULTS', { maxBytes: null }), 'a stream without a limit'],
    [withStream('PINGS', { messages: 4, firstAtMs: ago(20) }), 'pings that were kept a moment ago'],
    [withPostgres({ standbys: [] }), 'an installation without a standby'],
    [withStandby({ state: null, behindMs: null }), 'a user who may not see the state of standbys'],
    [withPostgres({ heartbeats: { monitors: 0, listeningAtMs: ago(900) } }), 'no heartbeat monitors'],
    [withProbe({ connectivityOk: null }), 'a probe that says nothing about its connection'],
    [withPostgres({ lastTransitionAtMs: null }), 'a new installation'],
    [withPostgres({ plannedOutages: { kept: 0, missed: 0, lastMiss: null } }), 'an installation without canaries'],
    [withMiss(3_601, 12), 'a planned outage that was reported late hours ago'],
  ]
  for (const [facts, what] of normal) t.same(listProblems(facts), [], what)
})

t.test('The report lists problems first with what to do, and the JSON report has the same findings', async t => {
  const facts = withRegion({ liveProbes: 0, noLiveProbeSinceMs: ago(70) })
  const lines = formatReport(assessHealth(facts), NOW).split('\n')
  t.match(lines[0], /^1 of \d+ checks found a problem:$/)
  t.equal(
    lines[1],
    '  PROBLEM  Region us-east has no live probe; 40 monitors use it, since 2026-05-01T11:58:50Z (1 minute 10 seconds).',
  )
  t.equal(lines[2], '           Check the logs of its probes, and that they can reach the role fleet.')
  t.match(lines[3], /^ {2}ok {7}/)
  const document = toReportDocument(assessHealth(facts), NOW)
  t.match(document, { well: false, read_at: '2026-05-01T12:00:00.000Z' })
  t.match(
    document.findings.filter(({ well }) => !well),
    [{ subject: 'regions', since: '2026-05-01T11:58:50.000Z' }],
  )
  t.equal(document.findings.length, lines.length - 2)
})
