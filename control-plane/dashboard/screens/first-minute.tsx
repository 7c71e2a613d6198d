import { canWrite, useFrame } from '../core/frame-context.ts'

/** The empty overview: one field, from which the first monitor begins. Works without scripts as far as the form of the monitor. */
export function FirstMinute() {
  const { me } = useFrame()
  if (!canWrite(me)) return <p class="empty">There is no monitor yet. A person with the role editor can create one.</p>
  return (
    <form class="first-minute" action="/monitors/new" method="get">
      <label for="first-address">What should be monitored?</label>
      <div class="joined">
        <input
          id="first-address"
          name="url"
          placeholder="https://shop.example.com"
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          aria-describedby="first-address-hint"
        />
        <button type="submit" class="main">
          Continue
        </button>
      </div>
      <p class="soft small" id="first-address-hint">
        A web address, a host or host:port. You try it from several regions before anything is stored. Or{' '}
        <a href="/monitors/new?type=heartbeat">let a job report by itself</a>.
      </p>
    </form>
  )
}
