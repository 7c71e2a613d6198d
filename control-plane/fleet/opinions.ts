import type { RunDone } from '../../proto/gen/probe/v1/fleet.ts'
import { isRunRefusal, type Result, ResultBatch, Trigger } from '../../shared/result.ts'
import { partitionOf, resultSubject, witnessSubject } from '../../shared/subjects.ts'
import { type Book, planOf } from './book.ts'
import type { Desk } from './desk.ts'
import type { Link } from './link.ts'
import { ownerOf } from './plan.ts'
import type { WitnessedRun } from './runs-in-hand.ts'

/** What the fleet publishes for the verdict in the name of a probe; JetStream keeps one message of each id. */
export type Opinion = {
  what: 'opinion' | 'witness'
  monitorId: string
  region: string
  subject: string
  data: Uint8Array
  id: string
}

/** The message for the verdict that an answer of a probe gives; null: none. It ends the run of a witness. */
export function takeOpinion({ book, runs }: Pick<Desk, 'book' | 'runs'>, link: Link, done: RunDone): Opinion | null {
  const { runId, result } = done
  const run = runs.get(runId)
  if (!run?.witnessed) return result ? secondOpinion(book, link, runId, result) : null
  runs.delete(runId)
  return result && run.link === link ? witnessedOpinion(book, link, runId, run.witnessed, result) : null
}

/**
 * The opinion of a probe that does not check the monitor itself: it got only the check and knows neither version
 * nor epoch (decisions 4.5).
 */
function secondOpinion(book: Book, { probeId, region }: Link, runId: string, result: Result): Opinion | null {
  const { monitorId, trigger } = result
  if (trigger !== Trigger.SECOND_OPINION || isRunRefusal(result)) return null
  const plan = planOf(book, region)
  const owner = ownerOf(plan, monitorId)
  const entry = book.roster.entries.get(monitorId)
  if (!owner || owner === probeId || !entry) return null
  const opinion = { ...result, trigger: Trigger.OTHER_PROBE, configVersion: entry.configVersion, epoch: plan.epoch }
  const data = ResultBatch.encode({ probeId, region, results: [opinion] }).finish()
  const subject = resultSubject(partitionOf(monitorId), region)
  return { what: 'opinion', monitorId, region, subject, data, id: `${runId}.${probeId}` }
}

/**
 * What a witness saw goes to the verdict on a subject that no probe may publish on, so that no probe can pretend to be a
 * witness. Of the monitor and the time of the check counts what was asked for.
 */
function witnessedOpinion(
  book: Book,
  { probeId, region }: Link,
  runId: string,
  run: WitnessedRun,
  result: Result,
): Opinion | null {
  if (isRunRefusal(result)) return null
  const { tenant: _, ...asked } = run
  const { monitorId } = asked
  const witnessed = { ...result, ...asked, epoch: planOf(book, region).epoch, trigger: Trigger.WITNESS }
  const data = ResultBatch.encode({ probeId, region, results: [], witnessed }).finish()
  const subject = witnessSubject(partitionOf(monitorId))
  return { what: 'witness', monitorId, region, subject, data, id: `${runId}.${probeId}` }
}
