import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { formatMs } from '../../../core/format.ts'
import { useFrame } from '../../../core/frame-context.ts'
import type { OperationResponse } from '../../../core/operations.ts'
import { Facts } from '../../../parts/layout/section.tsx'

export type UnstoredTest = OperationResponse<'testUnstoredAlertChannel'>['data']
export type StoredTest = OperationResponse<'testAlertChannel'>['data']
type SentMessage = Pick<UnstoredTest, 'request_url' | 'request_headers' | 'request_body'>
type SentAttempt = UnstoredTest['attempt']

/** The request of a test and the answer of the receiver. */
export const UnstoredTestResult = ({ test }: { test: UnstoredTest }) => (
  <Result
    sentence={test.delivered ? 'The receiver accepted the message.' : 'The receiver did not accept the message.'}
    isFailure={!test.delivered}
    message={test}
    attempt={test.attempt}
  />
)

const SENTENCES: Record<StoredTest['status'], string> = {
  pending: 'The receiver did not accept the message. It is sent again.',
  delivered: 'The receiver accepted the message.',
  failed: 'The receiver did not accept the message.',
  skipped: 'Nothing was sent.',
  dead: 'The receiver did not accept the message.',
}

/** The entry is read again whenever the time of the page advances. After this number of reads the log has to be opened. */
const MAX_READS = 20

/** A test of a stored channel, which is a delivery. It is read until it has an attempt. */
export function StoredTestResult({ test }: { test: StoredTest }) {
  const { execute, nowMs } = useFrame()
  const [entry, setEntry] = useState(test)
  const [reads, setReads] = useState(0)
  const isWaiting = entry.status === 'pending' && entry.attempts.length === 0
  useEffect(() => {
    if (!isWaiting || reads >= MAX_READS) return
    setReads(reads + 1)
    void execute('readAlertLog', { path: { id: test.id } }).then(outcome => {
      if ('data' in outcome) setEntry(outcome.data.data)
    })
  }, [isWaiting, nowMs])
  const log = <a href={`/log/${entry.id}`}>Open in the log</a>
  if (isWaiting) {
    return <p role="status">{reads < MAX_READS ? 'Waiting for the answer of the receiver …' : log}</p>
  }
  return (
    <Result
      sentence={SENTENCES[entry.status]}
      isFailure={entry.status !== 'delivered'}
      message={entry}
      attempt={entry.attempts.at(-1) ?? null}
    >
      <p>{log}</p>
    </Result>
  )
}

const Result = ({
  sentence,
  isFailure,
  message,
  attempt,
  children,
}: {
  sentence: string
  isFailure: boolean
  message: SentMessage
  attempt: SentAttempt | null
  children?: ComponentChildren
}) => (
  <div class="stack" role="status">
    <p class={isFailure ? 'down' : 'recovered'}>{sentence}</p>
    <Facts
      rows={[
        ['Answer', attempt?.response_code],
        ['Error', attempt?.error],
        ['Time', attempt && formatMs(attempt.duration_ms)],
        ['Address', message.request_url],
      ]}
    />
    {attempt?.response_snippet && (
      <details class="group" open>
        <summary>Body of the answer</summary>
        <pre>{attempt.response_snippet}</pre>
      </details>
    )}
    {message.request_body && (
      <details class="group">
        <summary>Request</summary>
        <pre>
          {Object.entries(message.request_headers ?? {})
            .map(([name, value]) => `${name}: ${value}\n`)
            .join('')}
          {'\n'}
          {message.request_body}
        </pre>
      </details>
    )}
    {children}
  </div>
)
