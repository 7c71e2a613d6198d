import type { MonitorType } from '../../../../../../shared/checks/check.ts'
import { CREATE_DEFAULTS } from '../../../../../monitoring/monitors/settings/defaults.ts'
import type { MonitorAuthType } from '../../../../../monitoring/monitors/types.ts'
import type { OperationArguments } from '../../../../core/operations.ts'
import type { FieldProblem } from '../../../../parts/forms/field-errors.ts'
import { listRepeatedNames, toPairObject } from '../../../../parts/forms/pairs-field.tsx'
import { parseTags } from '../../../../parts/monitors/tag-list.ts'
import { type FormCredentials, type MonitorForm, sendsRequests } from './monitor-form.ts'
import type { FormInput } from './proposals.ts'

export type CreateBody = OperationArguments<'createMonitor'>['body']
export type UpdateBody = OperationArguments<'updateMonitor'>['body']
export type AuthBody = OperationArguments<'updateMonitorAuth'>['body']
export type MonitorBodyFields = Required<CreateBody>
export type MonitorField = keyof MonitorBodyFields

const CREDENTIAL_KEYS: Record<MonitorAuthType, (keyof FormCredentials)[]> = {
  basic: ['username', 'password'],
  bearer: ['token'],
  header: ['name', 'value'],
}

/** A number as text. Other texts become null, which the API answers with a sentence about the field. */
const toNumber = (text: string) => (text.trim() === '' || Number.isNaN(Number(text)) ? null : Number(text)) as number

/** The form as values of the API. */
export function toMonitorFields(form: FormInput): MonitorBodyFields {
  const { auth_type: type, auth_config: config, tags, assertions } = form
  const keys = type === '' ? [] : CREDENTIAL_KEYS[type]
  return {
    ...form,
    url: form.url.trim() || null,
    name: form.name.trim(),
    interval_seconds: toNumber(form.interval_seconds),
    timeout_ms: toNumber(form.timeout_ms),
    retry_count: toNumber(form.retry_count),
    screenshot_threshold: toNumber(form.screenshot_threshold),
    heartbeat_interval: toNumber(form.heartbeat_interval),
    heartbeat_grace: toNumber(form.heartbeat_grace),
    keyword: form.keyword === '' ? null : form.keyword,
    body: form.body === '' ? null : form.body,
    headers: toPairObject(form.headers),
    assertions: assertions.length === 0 ? null : assertions,
    tags: parseTags(tags).length === 0 ? null : parseTags(tags),
    auth_type: type === '' ? null : type,
    auth_config: type === '' ? null : Object.fromEntries(keys.map(key => [key, config[key]])),
  }
}

const EVERY_TYPE: readonly MonitorField[] = ['name', 'type', 'tags']
const CHECKED: readonly MonitorField[] = [
  ...EVERY_TYPE,
  ...(['url', 'interval_seconds', 'regions', 'timeout_ms', 'retry_count', 'assertions', 'witness'] as const),
]
const REQUEST: readonly MonitorField[] = [
  ...CHECKED,
  ...(['method', 'headers', 'body', 'auth_type', 'auth_config', 'ssl_check', 'domain_check'] as const),
  ...(['screenshot_on_failure', 'screenshot_compare', 'screenshot_threshold', 'witness_with_credentials'] as const),
]

/** The fields that have an effect on monitors of a type, which the form shows. */
export const FIELDS_OF_TYPE: Record<MonitorType, readonly MonitorField[]> = {
  http: REQUEST,
  keyword: [...REQUEST, 'keyword', 'keyword_type'],
  ping: [...CHECKED, 'domain_check'],
  tcp: [...CHECKED, 'domain_check'],
  dns: [...CHECKED, 'domain_check'],
  heartbeat: [...EVERY_TYPE, 'heartbeat_interval', 'heartbeat_grace'],
}

const DEFAULTS: Partial<Record<MonitorField, unknown>> = CREATE_DEFAULTS

/** The body of a create or a test: the fields of the type, without those that have their default. */
export function toCreateBody(form: FormInput): CreateBody {
  const fields = toMonitorFields(form)
  const named = FIELDS_OF_TYPE[form.type].filter(key => {
    const isDefault = isSame(fields[key], DEFAULTS[key]) || (fields[key] === null && !(key in DEFAULTS))
    return key === 'name' || key === 'type' || !isDefault
  })
  return pick(fields, named) as CreateBody
}

export const isSame = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b)

export const pick = (fields: MonitorBodyFields, names: readonly MonitorField[]): Partial<MonitorBodyFields> =>
  Object.fromEntries(names.map(name => [name, fields[name]]))

/** One body for each address, with the settings of the form. A name is proposed from each address. */
export const toCreateBodies = (form: FormInput, items: { url: string; name: string }[]): CreateBody[] =>
  items.map(item => toCreateBody({ ...form, ...item }))

/**
 * Problems that the API does not report: fields without which a monitor is stored, but not checked, and names that an
 * object cannot contain twice. In the words of the API.
 */
export function findFormProblems(form: MonitorForm): FieldProblem[] {
  const { type } = form
  const article = type === 'http' ? 'an' : 'a'
  const required = (path: MonitorField, isMissing: boolean): FieldProblem[] =>
    isMissing ? [{ path, message: `${path} is required to check ${article} ${type} monitor` }] : []
  return [
    ...required('url', type !== 'heartbeat' && form.url.trim() === ''),
    ...required('keyword', type === 'keyword' && form.keyword === ''),
    ...required('heartbeat_interval', type === 'heartbeat' && form.heartbeat_interval === ''),
    ...findRepeatedHeaders(form),
  ]
}

/** The problems of settings that several new monitors share. Each of them has an address of its own. */
export const findSharedProblems = (form: MonitorForm): FieldProblem[] =>
  findFormProblems(form).filter(({ path }) => path !== 'url')

/** The problems that saving would make. A field that the stored monitor has not either stays as it is. */
export function findMadeProblems(stored: MonitorForm, form: MonitorForm): FieldProblem[] {
  const missing = new Set(findFormProblems({ ...stored, headers: [] }).map(({ path }) => path))
  return findFormProblems(form).filter(({ path }) => !missing.has(path))
}

/** Headers that are listed twice, for types that send headers. */
const findRepeatedHeaders = ({ type, headers }: MonitorForm): FieldProblem[] =>
  sendsRequests(type)
    ? listRepeatedNames(headers).map(name => ({ path: 'headers', message: `the header "${name}" is listed twice` }))
    : []
