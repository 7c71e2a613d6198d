import { useState } from 'preact/hooks'
import { formatCount } from '../../../core/format.ts'
import { useFrame } from '../../../core/frame-context.ts'
import { UNALERTED_PATH } from '../../../core/frame-reads.ts'
import type { OperationResponse } from '../../../core/operations.ts'
import { EMPTY_CHANNEL } from '../channels/channel-form.ts'
import { NewChannel } from '../channels/new-channel-form.tsx'
import { NextStep } from './next-step.tsx'

type Channel = OperationResponse<'listAlertChannels'>['data'][number]

/** Who is alerted: a channel of one's own, tested with a real message. */
export function ChannelStep({
  channels,
  unalerted,
  nextPath,
}: {
  channels: readonly Channel[]
  unalerted: number
  nextPath: string
}) {
  const { me } = useFrame()
  const values = me.user ? { to: me.user.email } : EMPTY_CHANNEL.values
  const [isCreated, setCreated] = useState(false)
  const isDone = channels.length > 0
  return (
    <section aria-labelledby="who">
      <div class="step">
        <h2 id="who">Who is alerted?</h2>
        {isDone && !isCreated && (
          <p>
            There {channels.length === 1 ? 'is' : 'are'}{' '}
            <a href="/settings/channels">{formatCount(channels.length, 'channel')}</a>
            {unalerted > 0 && (
              <>
                , but <a href={UNALERTED_PATH}>{formatCount(unalerted, 'active monitor')}</a> without one
              </>
            )}
            . Another one can be added here.
          </p>
        )}
      </div>
      <NewChannel
        start={{ ...EMPTY_CHANNEL, values }}
        unalerted={unalerted}
        buildNextPath={() => nextPath}
        onCreated={() => setCreated(true)}
      />
      {/* a new channel has a link of its own, which says that its secret was copied */}
      {!isCreated && (
        <div class="step">
          <NextStep path={nextPath} text="Next: see an outage" isDone={isDone} />
        </div>
      )}
    </section>
  )
}
