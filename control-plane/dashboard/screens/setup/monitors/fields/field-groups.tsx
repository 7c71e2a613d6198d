import { sendsRequests } from '../state/monitor-form.ts'
import type { GroupOptions } from './group-props.ts'
import { ExpiryFields, ScreenshotFields, TagFields, TimingFields, WitnessFields } from './other-fields.tsx'
import { AuthenticationFields, RequestFields } from './request-fields.tsx'
import { SuccessFields } from './success-fields.tsx'

/** Everything with a good default, folded, as far as it has an effect on monitors of the type. */
export function FieldGroups(props: GroupOptions & { isNew: boolean }) {
  const { type } = props.form
  if (type === 'heartbeat') return <TagFields {...props} />
  return (
    <div class="groups">
      <SuccessFields {...props} />
      {sendsRequests(type) && <RequestFields {...props} />}
      {sendsRequests(type) && <AuthenticationFields {...props} />}
      <TimingFields {...props} />
      <ExpiryFields {...props} />
      {sendsRequests(type) && <ScreenshotFields {...props} />}
      <TagFields {...props} />
      <WitnessFields {...props} />
    </div>
  )
}
