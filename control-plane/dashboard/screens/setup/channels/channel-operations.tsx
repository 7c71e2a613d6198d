import { useState } from 'preact/hooks'
import { canWrite, useFrame } from '../../../core/frame-context.ts'
import { call } from '../../../core/operations.ts'
import { AsCall } from '../../../parts/calls/as-call.tsx'
import { Secret } from '../../../parts/copy-button.tsx'
import { type FormAttempt, useAttempt } from '../../../parts/forms/attempt.ts'
import { Section } from '../../../parts/layout/section.tsx'
import { Moment } from '../../../parts/moment.tsx'
import type { ChannelRecord } from './channel-form.ts'
import { type StoredTest, StoredTestResult } from './channel-test.tsx'

const AttemptError = ({ error }: Pick<FormAttempt, 'error'>) =>
  error && (
    <p class="wrong" role="alert">
      {error.message}.
    </p>
  )

/** Nothing is sent to a paused channel until a person resumes it. */
export function PausedBanner({ channel }: { channel: ChannelRecord }) {
  const { me, execute, isInteractive } = useFrame()
  const { isBusy, error, run } = useAttempt()
  const resuming = call('resumeAlertChannel', { path: { id: channel.id } })
  const resume = () => run(() => execute(resuming.name, resuming.arguments))
  return (
    <div class="banner trouble">
      <p>
        Paused
        {channel.paused_at && (
          <>
            {' '}
            since <Moment at={channel.paused_at} />
          </>
        )}
        : {channel.paused_reason ?? 'by a person'}. Nothing is sent to this channel.
      </p>
      {canWrite(me) && (
        <p class="actions">
          <button type="button" disabled={isBusy || !isInteractive} onClick={resume}>
            Resume the channel
          </button>
        </p>
      )}
      <AttemptError error={error} />
      {canWrite(me) && <AsCall call={resuming} />}
    </div>
  )
}

/** Sends a test to the stored channel and shows the request and the answer. */
export function TestSection({ channel }: { channel: ChannelRecord }) {
  const { execute, isInteractive } = useFrame()
  const { isBusy, error, run } = useAttempt()
  const [test, setTest] = useState<StoredTest | null>(null)
  const testing = call('testAlertChannel', { path: { id: channel.id } })
  const send = async () => {
    setTest(null)
    setTest((await run(() => execute(testing.name, testing.arguments)))?.data ?? null)
  }
  return (
    <Section id="test" title="Test">
      <p>Sends a monitor.down that is marked as a test, with the saved settings.</p>
      <div class="actions">
        <button type="button" disabled={isBusy || !isInteractive} onClick={send}>
          Send a test
        </button>
      </div>
      <AttemptError error={error} />
      <AsCall call={testing} />
      {test && <StoredTestResult key={test.id} test={test} />}
    </Section>
  )
}

/** The secret with which requests are signed. It can be replaced, not read. */
export function SecretSection({ channel }: { channel: ChannelRecord }) {
  const { execute, isInteractive } = useFrame()
  const { isBusy, error, run } = useAttempt()
  const [secret, setSecret] = useState<string | null>(null)
  const rotation = call('rotateAlertChannelSecret', { path: { id: channel.id } })
  const rotate = async () => {
    const rotated = await run(() => execute(rotation.name, rotation.arguments))
    setSecret(rotated?.data.signing_secret ?? null)
  }
  return (
    <Section id="secret" title="Signing secret">
      <p>
        The receiver verifies requests with it. It was shown once. After a rotation every request is signed with the new
        secret.
      </p>
      <div class="actions">
        <button type="button" disabled={isBusy || !isInteractive} onClick={rotate}>
          Rotate the secret
        </button>
      </div>
      <AttemptError error={error} />
      <AsCall call={rotation} />
      {secret && (
        <Secret label="The new signing secret. It is shown only now." value={secret} onCopied={() => setSecret(null)} />
      )}
    </Section>
  )
}
