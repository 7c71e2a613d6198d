import { canWrite, useFrame } from '../../core/frame-context.ts'
import { NeedsRole } from '../../parts/needs-role.tsx'
import { keepTypedAddress } from '../setup/start/typed-address.ts'

/** The empty overview: one field, from which the first monitor begins. Without scripts it leads to the first step. */
export function FirstMinute() {
  const { me, navigate } = useFrame()
  if (!canWrite(me)) return <NeedsRole what="Creating a monitor" needed="editor" />
  const submit = (event: SubmitEvent) => {
    const url = new FormData(event.currentTarget as HTMLFormElement).get('url')
    if (typeof url !== 'string' || url.trim() === '') return
    event.preventDefault()
    keepTypedAddress(url)
    navigate(`/start?${new URLSearchParams({ url })}`)
  }
  return (
    <form class="first-minute" action="/start" method="get" onSubmit={submit}>
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
          Try it
        </button>
      </div>
      <p class="soft small" id="first-address-hint">
        A web address, a host or host:port. It is tried from every region before anything is saved. Or{' '}
        <a href="/monitors/new?type=heartbeat">let a job report by itself</a>, or{' '}
        <a href="/settings/import">import a file</a> of Uptime Kuma or Gatus.
      </p>
    </form>
  )
}
