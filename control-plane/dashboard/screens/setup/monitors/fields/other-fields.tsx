import { formatMs } from '../../../../core/format.ts'
import { CheckField, FieldGroup, FixedField, TextField } from '../../../../parts/forms/fields.tsx'
import { sendsRequests } from '../state/monitor-form.ts'
import { type GroupOptions, isGroupOpen } from './group-props.ts'

export function TimingFields(props: GroupOptions) {
  const { form, errors, change } = props
  return (
    <FieldGroup
      title="Timing"
      summary={`timeout ${formatMs(Number(form.timeout_ms))}, ${form.retry_count || 'no'} re-checks`}
      isOpen={isGroupOpen(props, ['timeout_ms', 'retry_count'])}
    >
      <TextField
        path="timeout_ms"
        label="Timeout, in ms"
        type="number"
        inputMode="numeric"
        value={form.timeout_ms}
        errors={errors}
        hint="1,000 to 60,000. Longer than the interval counts as the interval."
        onChange={timeout_ms => change({ timeout_ms })}
      />
      <TextField
        path="retry_count"
        label="Re-checks"
        type="number"
        inputMode="numeric"
        value={form.retry_count}
        errors={errors}
        hint="0 to 5. Number of re-checks, seconds apart, that must confirm a failure. More of them give fewer false alerts, but later ones."
        onChange={retry_count => change({ retry_count })}
      />
    </FieldGroup>
  )
}

export function ExpiryFields(props: GroupOptions) {
  const { form, errors, change } = props
  const names = [form.ssl_check && 'certificate', form.domain_check && 'domain'].filter(Boolean)
  return (
    <FieldGroup
      title="Certificates and domain"
      summary={names.length === 0 ? 'no warnings' : `warnings before the ${names.join(' and the ')} expires`}
      isOpen={isGroupOpen(props, ['ssl_check', 'domain_check'])}
    >
      {sendsRequests(form.type) && (
        <CheckField
          path="ssl_check"
          label="Warn before the certificate expires"
          hint="30, 14, 7, 3 and 1 days before."
          value={form.ssl_check}
          errors={errors}
          onChange={ssl_check => change({ ssl_check })}
        />
      )}
      <CheckField
        path="domain_check"
        label="Warn before the registration of the domain expires"
        hint="30, 14, 7, 3 and 1 days before."
        value={form.domain_check}
        errors={errors}
        onChange={domain_check => change({ domain_check })}
      />
    </FieldGroup>
  )
}

export function ScreenshotFields(props: GroupOptions & { isNew: boolean }) {
  const { form, errors, change, isNew } = props
  const parts = [form.screenshot_on_failure && 'of failures', form.screenshot_compare && 'compared with a baseline']
  const percent = `${Number(form.screenshot_threshold) * 100} %`
  return (
    <FieldGroup
      title="Screenshots"
      summary={parts.filter(Boolean).join(', ') || 'none'}
      isOpen={isGroupOpen(props, ['screenshot_on_failure', 'screenshot_compare', 'screenshot_threshold'])}
    >
      <CheckField
        path="screenshot_on_failure"
        label="Take a screenshot when a region begins to fail"
        hint="For pages that are read with GET or HEAD."
        value={form.screenshot_on_failure}
        errors={errors}
        onChange={screenshot_on_failure => change({ screenshot_on_failure })}
      />
      <CheckField
        path="screenshot_compare"
        label="Compare the page with a baseline every 15 minutes"
        hint="The monitor is degraded while the page looks different."
        value={form.screenshot_compare}
        errors={errors}
        onChange={screenshot_compare => change({ screenshot_compare })}
      />
      {form.screenshot_compare &&
        (isNew ? (
          <TextField
            path="screenshot_threshold"
            label="Share of pixels that may differ, 0 to 1"
            type="number"
            inputMode="decimal"
            value={form.screenshot_threshold}
            errors={errors}
            onChange={screenshot_threshold => change({ screenshot_threshold })}
          />
        ) : (
          <FixedField
            label="Share of pixels that may differ"
            value={percent}
            why="Fixed. A copy can have another one."
          />
        ))}
    </FieldGroup>
  )
}

export function TagFields(props: GroupOptions) {
  const { form, errors, change } = props
  return (
    <FieldGroup title="Tags" summary={form.tags || 'none'} isOpen={isGroupOpen(props, ['tags'])}>
      <TextField
        path="tags"
        label="Tags, separated by commas"
        value={form.tags}
        errors={errors}
        hint='For example production, shop. A tag with a comma is put in quotes: "a, b". Lists can be filtered by them.'
        onChange={tags => change({ tags })}
      />
    </FieldGroup>
  )
}

export function WitnessFields(props: GroupOptions) {
  const { form, errors, change } = props
  const withCredentials = form.witness && form.witness_with_credentials
  return (
    <FieldGroup
      title="Witness"
      summary={form.witness ? `allowed${withCredentials ? ', with credentials' : ''}` : 'not allowed'}
      isOpen={isGroupOpen(props, ['witness', 'witness_with_credentials'])}
    >
      <CheckField
        path="witness"
        label="Probes of other regions may confirm a failure"
        hint="Only while many hosts fail for a region at the same time. These probes never vote."
        value={form.witness}
        errors={errors}
        onChange={witness => change({ witness })}
      />
      {sendsRequests(form.type) && (
        <CheckField
          path="witness_with_credentials"
          label="They also get the credentials, headers, body and query"
          hint="Without them they only check whether the address answers."
          value={form.witness_with_credentials}
          errors={errors}
          onChange={witness_with_credentials => change({ witness_with_credentials })}
        />
      )}
    </FieldGroup>
  )
}
