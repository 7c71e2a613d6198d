import type { FormErrors } from '../../../../parts/forms/field-errors.ts'
import { isSame, type MonitorField } from '../state/monitor-body.ts'
import { EMPTY_FORM, type MonitorForm } from '../state/monitor-form.ts'

/** What each group of fields gets. */
export type GroupOptions = {
  form: MonitorForm
  errors: FormErrors
  change(part: Partial<MonitorForm>): void
}

/** A group is open when one of its fields is wrong or was set. */
export const isGroupOpen = ({ form, errors }: GroupOptions, fields: readonly MonitorField[]): boolean =>
  errors.isBelow(fields) || hasSettings(form, fields)

const hasSettings = (form: MonitorForm, fields: readonly MonitorField[]): boolean =>
  fields.some(field => !isSame(form[field], EMPTY_FORM[field]))
