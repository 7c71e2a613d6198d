import type { SourceRecord } from './form/source-form.ts'

type SourceState = 'new' | 'works' | 'partial' | 'failing' | 'paused'

/** Whether a source is fetched, in a word, and what is wrong as a sentence without a full stop. */
export function describeSource(
  source: Pick<SourceRecord, 'is_paused' | 'last_error' | 'last_fetched_at' | 'problem' | 'consecutive_failures'>,
): { state: SourceState; text: string; problem: string | null } {
  const { last_error: error, last_fetched_at: fetched, problem, consecutive_failures: failures } = source
  if (source.is_paused) return { state: 'paused', text: 'Paused', problem: null }
  if (error !== null) {
    const text = failures > 1 ? `Failed ${failures} times` : 'Failed'
    return { state: 'failing', text, problem: error }
  }
  if (fetched === null) return { state: 'new', text: 'Not fetched yet', problem: null }
  if (problem !== null) return { state: 'partial', text: 'Not complete', problem }
  return { state: 'works', text: 'Works', problem: null }
}
