import type { OperationArguments } from '../../../core/operations.ts'
import type { DependencyRecord } from './dependency-words.ts'

type Override = DependencyRecord['overrides'][number]
type UpdateBody = OperationArguments<'updateDependency'>['body']

/** What a channel gets of a dependency. `default`: what it is subscribed to. */
export type OverrideChoice = 'default' | 'all' | 'down' | 'none' | 'custom'

/** The settings of a dependency in the form. `components`: one on each line. */
type DependencyForm = { name: string; components: string; overrides: readonly Override[] }

export const toDependencyForm = ({ name, components, overrides }: DependencyRecord): DependencyForm => ({
  name,
  components: components.join('\n'),
  overrides,
})

const SWITCHES: Record<Exclude<OverrideChoice, 'default' | 'custom'>, Omit<Override, 'alert_channel_id'>> = {
  all: { on_down: true, on_degraded: true, on_resolved: true },
  down: { on_down: true, on_degraded: false, on_resolved: true },
  none: { on_down: false, on_degraded: false, on_resolved: false },
}

const isSame = (a: Omit<Override, 'alert_channel_id'>, b: Omit<Override, 'alert_channel_id'>) =>
  a.on_down === b.on_down && a.on_degraded === b.on_degraded && a.on_resolved === b.on_resolved

/** The choice that an override is; `custom` for combinations that the API accepts and the form does not offer. */
export function findChoice(overrides: readonly Override[], channelId: string): OverrideChoice {
  const found = overrides.find(override => override.alert_channel_id === channelId)
  if (!found) return 'default'
  const names = Object.keys(SWITCHES) as (keyof typeof SWITCHES)[]
  return names.find(name => isSame(SWITCHES[name], found)) ?? 'custom'
}

/** The overrides with another choice for a channel. */
export function applyChoice(
  overrides: readonly Override[],
  channelId: string,
  choice: OverrideChoice,
): readonly Override[] {
  if (choice === 'custom') return overrides
  const others = overrides.filter(override => override.alert_channel_id !== channelId)
  return choice === 'default' ? others : [...others, { alert_channel_id: channelId, ...SWITCHES[choice] }]
}

/** Only what changed. Null: nothing. */
export function toDependencyUpdate(stored: DependencyRecord, form: DependencyForm): UpdateBody | null {
  const components = form.components
    .split('\n')
    .map(line => line.trim())
    .filter(line => line !== '')
  const sort = (overrides: readonly Override[]) =>
    JSON.stringify([...overrides].sort((a, b) => a.alert_channel_id.localeCompare(b.alert_channel_id)).map(toSwitches))
  const body: UpdateBody = {
    ...(form.name.trim() !== stored.name && { name: form.name.trim() }),
    ...(components.join('\n') !== stored.components.join('\n') && { components }),
    ...(sort(form.overrides) !== sort(stored.overrides) && { overrides: [...form.overrides] }),
  }
  return Object.keys(body).length === 0 ? null : body
}

const toSwitches = ({ alert_channel_id, on_down, on_degraded, on_resolved }: Override) => [
  alert_channel_id,
  on_down,
  on_degraded,
  on_resolved,
]
