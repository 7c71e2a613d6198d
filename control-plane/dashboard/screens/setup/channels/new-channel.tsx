import { canWrite, useFrame } from '../../../core/frame-context.ts'
import { FRAME_READS } from '../../../core/frame-reads.ts'
import { call } from '../../../core/operations.ts'
import { screen } from '../../../core/screen.ts'
import { NeedsScript } from '../../../parts/calls/as-call.tsx'
import { NeedsRole } from '../../../parts/needs-role.tsx'
import { EMPTY_CHANNEL } from './channel-form.ts'
import { CHANNEL_TYPES } from './channel-kinds.ts'
import { NewChannel } from './new-channel-form.tsx'

const EXAMPLE = call('createAlertChannel', {
  body: {
    name: 'On call',
    type: 'email',
    config: { to: ['oncall@example.com'] },
    is_default: true,
  },
})

/** `/settings/channels/new`, also with `?type=`. */
export const newChannelScreen = screen({
  path: '/settings/channels/new',
  area: 'alerts',
  queries: () => ({ ...FRAME_READS }),
  title: () => 'New channel',
  Body: ({ search, results }) => {
    const { me } = useFrame()
    const type = CHANNEL_TYPES.find(one => one === search.get('type')) ?? EMPTY_CHANNEL.type
    return (
      <>
        <p class="trail">
          <a href="/settings/channels">Channels</a>
        </p>
        <h1>New channel</h1>
        <NeedsScript what="Creating a channel" call={EXAMPLE} />
        {canWrite(me) ? (
          <NewChannel
            key={type}
            start={{ ...EMPTY_CHANNEL, type }}
            unalerted={results.unalerted.data?.meta.total ?? 0}
            buildNextPath={id => `/settings/channels/${id}`}
          />
        ) : (
          <NeedsRole what="Creating a channel" needed="editor" />
        )}
      </>
    )
  },
})
