import t from 'tap'
import {
  encodeOrigin,
  RESULT_LINE_COLUMNS,
  toResultLine,
} from '../../../../control-plane/insight/analytics/recording/result-line.ts'
import { NO_DETAILS, Outcome, Trigger } from '../../../../shared/checks/result.ts'

t.test('The line of a healthy check is short: no JSON and four empty columns', async t => {
  const line = toResultLine(
    {
      monitorId: '01890a5d-ac96-774b-bcce-000000000001',
      configVersion: 1,
      epoch: 2,
      scheduledAtMs: 1_700_000_000_000,
      startedAtMs: 1_700_000_000_004,
      attempt: 1,
      outcome: Outcome.UP,
      trigger: Trigger.SLOT,
      runId: '',
      totalUs: 15,
      timings: { dnsUs: 1, connectUs: 2, tlsUs: 3, firstByteUs: 4, transferUs: 5 },
      statusCode: 200,
      error: undefined,
      failedAssertions: [],
      resolvedIp: '192.0.2.1',
      ...NO_DETAILS,
    },
    encodeOrigin({ region: 'eu-west', probeId: 'p' }),
    { takenAtMs: 1_700_000_000_020, sequence: 7, isLate: false },
  )
  t.equal(
    line,
    '["01890a5d-ac96-774b-bcce-000000000001","eu-west",1700000000000,1,"p",2,1,1700000000004,0,15,1,2,3,4,5,200,0,"","","","192.0.2.1","","","","",0,1700000000020,7,0,0]\n',
  )
  t.equal(JSON.parse(line).length, RESULT_LINE_COLUMNS.split(',').length)
})
