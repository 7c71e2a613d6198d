import t from 'tap'
import { reviewSilence } from '../../../../control-plane/verdict/suppression/decisions.ts'
import type { Silence } from '../../../../control-plane/verdict/suppression/store.ts'

const at = (seconds: number) => new Date(Date.UTC(2026, 10, 29, 3) + seconds * 1_000)

const down = { from: 'up', to: 'down', wasInOutage: false, transitionId: 't1', eventIds: ['e1'] } as const
const up = { from: 'down', to: 'up', wasInOutage: true, transitionId: 't2', eventIds: ['e2'] } as const
const outage = { told: 'up', outage: 'untold', ended: null, began: down, last: down } as const
const recovery = { told: 'down', outage: 'none', ended: up, began: null, last: up } as const
const nothing = { told: 'up', outage: 'none', ended: null, began: null, last: up } as const

const silence: Silence = {
  ...{ monitorId: 'm', withheld: outage, reason: 'maintenance', isAsked: false, sendBy: null, dueAt: at(0) },
  ...{ isParentDown: false, graceUntil: null, doubtUntil: null, isAnswered: false },
}
const monitor = { id: 'm', intervalSeconds: 30, timeoutMs: 5_000, retryCount: 0, heartbeatInterval: null }
const conditions = {
  ...{ maintenanceUntil: null, silencedUntil: null, isParentDown: false, parentPendingMs: null, parentCheckMs: null },
}

type Expected = Pick<Silence, 'reason' | 'sendBy' | 'dueAt'> | null
const wait = (sendBy: number, dueAt: number): Expected => ({ reason: 'turn', sendBy: at(sendBy), dueAt: at(dueAt) })
const CASES: [title: string, isOutdated: boolean, before: Partial<Silence>, seconds: number, expected: Expected][] = [
  ['an outage with a current status is sent', false, {}, 0, null],
  ['an outage that may have ended unseen waits five minutes at most', true, {}, 0, wait(300, 5)],
  ['the five minutes are not extended', true, { sendBy: at(300) }, 100, wait(300, 105)],
  ['the last wait is shorter', true, { sendBy: at(300) }, 298, wait(300, 300)],
  ['then it is sent anyway', true, { sendBy: at(300) }, 300, null],
  ['it is sent when the status becomes current', false, { sendBy: at(300) }, 40, null],
  ['the end of a known outage does not wait', true, { withheld: recovery }, 0, null],
  ['an outage that has ended leaves nothing to wait for', true, { withheld: nothing, sendBy: at(300) }, 10, null],
]
for (const [title, isOutdated, before, seconds, expected] of CASES) {
  t.test(`Without another reason, ${title}`, async t => {
    const timing = { ...monitor, isHeartbeat: false, isOutdated }
    const { waiting } = reviewSilence({ ...silence, ...before }, timing, { conditions, causedBy: null }, at(seconds))
    t.same(waiting, expected && { ...silence, ...before, ...expected })
  })
}

t.test('Another reason comes first, and the five minutes begin after it', async t => {
  const maintenance = { conditions: { ...conditions, maintenanceUntil: at(600) }, causedBy: null }
  const timing = { ...monitor, isHeartbeat: false, isOutdated: true }
  const { waiting } = reviewSilence({ ...silence, sendBy: at(300) }, timing, maintenance, at(100))
  t.match(waiting, { reason: 'maintenance', sendBy: null, dueAt: at(130) })
})
