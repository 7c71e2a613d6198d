import type { ChannelType } from '../../../../alerting/channels/registry.ts'
import type { OperationArguments, OperationResponse } from '../../../core/operations.ts'
import type { FieldProblem } from '../../../parts/forms/field-errors.ts'
import { type HeaderRow, listRepeatedNames, toPairObject, toPairs } from '../../../parts/forms/pairs-field.tsx'
import { CHANNEL_KINDS, INSTALLED_FIELDS } from './channel-kinds.ts'

export type ChannelRecord = OperationResponse<'readAlertChannel'>['data']
type ChannelCreateBody = OperationArguments<'createAlertChannel'>['body']
type ChannelUpdateBody = OperationArguments<'updateAlertChannel'>['body']

/** A channel as it is in the form. `values`: the fields of the configuration as texts, addresses one on each line. */
export type ChannelForm = {
  type: ChannelType
  name: string
  is_default: boolean
  values: Record<string, string>
  headers: HeaderRow[]
}

export const EMPTY_CHANNEL: ChannelForm = { type: 'webhook', name: '', is_default: true, values: {}, headers: [] }

/** The form of a stored channel. Secrets are masks, which mean the stored values when they are sent back. */
export function toChannelForm({ type, name, is_default, config }: ChannelRecord): ChannelForm {
  const fields = CHANNEL_KINDS[type].fields
  const texts = fields.flatMap(({ path, kind }) => {
    const value = config[path]
    if (kind === 'headers' || value === undefined) return []
    return [[path, Array.isArray(value) ? value.join('\n') : String(value)]]
  })
  const headers = fields.some(({ kind }) => kind === 'headers') ? toPairs(config.headers as Record<string, string>) : []
  return { type, name, is_default, values: Object.fromEntries(texts), headers }
}

/** A channel that the installed chat app made. Its configuration is not edited here. */
export const isInstalled = ({ config }: Pick<ChannelRecord, 'config'>) => INSTALLED_FIELDS.some(name => name in config)

const parseLines = (text: string) => text.split(/[\s,;]+/).filter(line => line !== '')

/** The configuration of a form. `stored`: further properties, which the form does not show, stay. */
export function toChannelConfig(form: ChannelForm, stored: Record<string, unknown> = {}): Record<string, unknown> {
  const { fields } = CHANNEL_KINDS[form.type]
  const others = Object.entries(stored).filter(([key]) => !fields.some(({ path }) => path === key))
  const values = fields.map(({ path, kind, isOptional }): [string, unknown] => {
    if (kind === 'headers') return [path, toPairObject(form.headers) ?? undefined]
    const text = (form.values[path] ?? '').trim()
    if (text === '' && isOptional) return [path, undefined]
    return [path, kind === 'addresses' ? parseLines(text) : text]
  })
  return Object.fromEntries([...others, ...values.filter(([, value]) => value !== undefined)])
}

export const toChannelBody = (form: ChannelForm): ChannelCreateBody => ({
  name: form.name.trim() || CHANNEL_KINDS[form.type].name,
  type: form.type,
  config: toChannelConfig(form),
  is_default: form.is_default,
})

/** Only what changed. Null: nothing. */
export function toChannelUpdate(stored: ChannelRecord, form: ChannelForm): ChannelUpdateBody | null {
  const config = toChannelConfig(form, stored.config)
  const isConfigChanged =
    JSON.stringify(config) !== JSON.stringify(toChannelConfig(toChannelForm(stored), stored.config))
  const body: ChannelUpdateBody = {
    ...(form.name.trim() !== stored.name && { name: form.name.trim() }),
    ...(form.is_default !== stored.is_default && { is_default: form.is_default }),
    ...(isConfigChanged && { config }),
  }
  return Object.keys(body).length === 0 ? null : body
}

/** Headers that an object cannot contain twice, in the words of the API. */
export const findChannelProblems = ({ headers }: ChannelForm): FieldProblem[] =>
  listRepeatedNames(headers).map(name => ({ path: 'config.headers', message: `the header "${name}" is listed twice` }))
