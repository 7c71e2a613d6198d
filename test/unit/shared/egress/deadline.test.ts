import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { startTimeLimit } from '../../../../shared/egress/deadline.ts'

t.test('A time limit does not end while the event loop is blocked, but afterwards', async t => {
  let isOver = false
  const ended = new Promise<void>(resolve => {
    startTimeLimit(20, () => {
      isOver = true
      resolve()
    })
  })
  const until = performance.now() + 500
  while (performance.now() < until);
  for (let turns = 0; turns < 3; turns++) await turn()
  t.notOk(isOver, 'what arrived meanwhile is read first')
  await ended
})

t.test('A time limit that is stopped does nothing', async t => {
  let isOver = false
  startTimeLimit(1, () => {
    isOver = true
  })()
  await new Promise<void>(resolve => void startTimeLimit(20, resolve))
  t.notOk(isOver)
})
