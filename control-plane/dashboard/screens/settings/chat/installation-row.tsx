import { useState } from 'preact/hooks'
import { formatCount } from '../../../core/format.ts'
import { useFrame } from '../../../core/frame-context.ts'
import { call, type OperationResponse } from '../../../core/operations.ts'
import { AsCall } from '../../../parts/calls/as-call.tsx'
import { useAttempt } from '../../../parts/forms/attempt.ts'
import { DeleteForm } from '../../../parts/forms/delete-form.tsx'
import { FormError } from '../../../parts/forms/operation-form.tsx'
import { Moment } from '../../../parts/moment.tsx'
import { hasRole } from '../../../parts/needs-role.tsx'

type Installation = OperationResponse<'listChatInstallations'>['data'][number]
type Channel = OperationResponse<'listAlertChannels'>['data'][number]

type RowProps = {
  installation: Installation
  /** the alert channels that post to the team; null: not known */
  channels: readonly Channel[] | null
  /** false if there can be others */
  areAllChannels: boolean
}

/** A connected team, with "Disconnect" for people who may. */
export function InstallationRow({ installation, channels, areAllChannels }: RowProps) {
  const { me, isInteractive } = useFrame()
  const [isLeaving, setLeaving] = useState(false)
  // a number can be typed only when it is known
  const isCounted = channels !== null && channels.length > 0 && areAllChannels
  const { team_name: team, installed_at: installedAt, revoked_at: revokedAt } = installation
  return (
    <li>
      <div class="channel">
        <div>
          <h2 dir="auto">{team}</h2>
          <p class="soft small">
            Connected on <Moment at={installedAt} part="date" />
            {channels !== null && areAllChannels && `, ${formatCount(channels.length, 'alert channel')}`}
          </p>
          {revokedAt !== null && (
            <p class="down small">
              The team removed the app on <Moment at={revokedAt} part="date" />. Connect it again to send incidents
              there.
            </p>
          )}
        </div>
        {hasRole(me, 'editor') && (
          <div class="actions">
            <button
              type="button"
              disabled={!isInteractive}
              aria-expanded={isLeaving}
              onClick={() => setLeaving(!isLeaving)}
            >
              Disconnect…
              <span class="hidden">
                {' '}
                <bdi>{team}</bdi>
              </span>
            </button>
          </div>
        )}
      </div>
      {isLeaving && isCounted && <DisconnectForm installation={installation} channels={channels} />}
      {isLeaving && !isCounted && (
        <div class="banner">
          <DeleteForm
            what="team"
            name={team}
            verb="disconnect"
            consequences={describeDeleted(channels, areAllChannels)}
            call={call('deleteChatInstallation', { path: { id: installation.id } })}
            onDone={() => setLeaving(false)}
          />
        </div>
      )}
    </li>
  )
}

/** What disconnecting deletes, without the number of channels. */
export function describeDeleted(channels: readonly Channel[] | null, areAll: boolean): string {
  const sentence = 'The app loses its access to the chat, and alert channels that post there are deleted.'
  if (channels === null || areAll) return sentence
  return `${sentence} The project has more channels than were read; of those, ${formatCount(channels.length, 'channel')} will be deleted.`
}

/** Disconnects a team, after its channels were shown and their number was typed. */
function DisconnectForm({
  installation: { id },
  channels,
}: {
  installation: Installation
  channels: readonly Channel[]
}) {
  const { execute } = useFrame()
  const { isBusy, error, run } = useAttempt()
  const [typed, setTyped] = useState('')
  const isConfirmed = typed.trim() === String(channels.length)
  const deletion = call('deleteChatInstallation', { path: { id } })
  const submit = async (event: Event) => {
    event.preventDefault()
    if (isConfirmed) await run(() => execute(deletion.name, deletion.arguments))
  }
  return (
    <form class="banner stack" onSubmit={submit} autocomplete="off">
      <p>
        The app loses its access to the chat. {formatCount(channels.length, 'alert channel')} with rules and log entries{' '}
        {channels.length === 1 ? 'is' : 'are'} deleted:
      </p>
      <ul class="consequences-list">
        {channels.map(channel => (
          <li key={channel.id}>
            <a href={`/settings/channels/${channel.id}`} dir="auto">
              {channel.name}
            </a>
          </li>
        ))}
      </ul>
      <div class="field">
        <label for={`disconnect-${id}`}>Type {channels.length}, the number of alert channels that are deleted</label>
        <input
          id={`disconnect-${id}`}
          inputMode="numeric"
          value={typed}
          onInput={event => setTyped(event.currentTarget.value)}
        />
      </div>
      <div class="actions">
        <button type="submit" class="danger" disabled={!isConfirmed || isBusy}>
          Disconnect the team
        </button>
      </div>
      <FormError error={error} />
      <AsCall call={deletion} />
    </form>
  )
}
