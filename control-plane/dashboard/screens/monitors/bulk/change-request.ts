/** The form of a change of many monitors. Pure. */

import type { MonitorChange } from '../../../../../deploy/client/index.ts'
import type { Region } from '../../../../../shared/checks/check.ts'
import { parseTags } from '../../../parts/monitors/tag-list.ts'
import { EMPTY_SILENCE, readSilenceForm, type SilenceForm } from '../../suppression/silences/silence-form.ts'

export const CHANGE_KINDS = [
  ['interval', 'Interval'],
  ['regions', 'Regions'],
  ['tags', 'Tags'],
  ['channels', 'Alert channels'],
  ['timeout', 'Timeout'],
  ['retries', 'Retries'],
] as const
type ChangeTopic = (typeof CHANGE_KINDS)[number][0] | 'silence'

/** What happens to an entry of a list. */
export type Edit = 'keep' | 'add' | 'remove'

export type ChangeForm = {
  kind: ChangeTopic
  /** numbers as they are typed; the interval in seconds, the timeout in ms */
  interval: string
  timeout: string
  retries: string
  regions: Partial<Record<Region, Edit>>
  /** by id */
  channels: Record<string, Edit>
  /** separated by commas */
  addedTags: string
  removedTags: string
  silence: SilenceForm
}

export const EMPTY_FORM: ChangeForm = {
  ...{ kind: 'interval', interval: '60', timeout: '30000', retries: '2' },
  ...{ regions: {}, channels: {}, addedTags: '', removedTags: '', silence: EMPTY_SILENCE },
}

/** The change that a form describes; null while it describes none. Times are of `timeZone`. */
export function buildChange(form: ChangeForm, nowMs: number, timeZone: string): MonitorChange | null {
  switch (form.kind) {
    case 'interval':
      return form.interval === '' ? null : { interval_seconds: Number(form.interval) }
    case 'timeout':
      return form.timeout === '' ? null : { timeout_ms: Number(form.timeout) }
    case 'retries':
      return form.retries === '' ? null : { retry_count: Number(form.retries) }
    case 'silence': {
      const silence = readSilenceForm(form.silence, nowMs, timeZone)
      return silence === undefined ? null : { silence }
    }
    case 'regions': {
      const edit = readEdits(form.regions as Record<string, Edit>)
      return edit && { regions: edit as MonitorChange['regions'] }
    }
    case 'tags': {
      const [add, remove] = [parseTags(form.addedTags), parseTags(form.removedTags)]
      return add.length + remove.length === 0 ? null : { tags: { add, remove } }
    }
    case 'channels': {
      const edit = readEdits(form.channels)
      return edit && { alert_rules: { add: edit.add.map(id => ({ alert_channel_id: id })), remove: edit.remove } }
    }
  }
}

function readEdits(edits: Record<string, Edit>): { add: string[]; remove: string[] } | null {
  const select = (wanted: Edit) => Object.keys(edits).filter(name => edits[name] === wanted)
  const [add, remove] = [select('add'), select('remove')]
  return add.length + remove.length === 0 ? null : { add, remove }
}
