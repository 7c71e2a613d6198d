import type { FunctionComponent } from 'preact'
import t from 'tap'
import type { Execute, OperationError } from '../../../control-plane/dashboard/core/operations.ts'
import { Secret } from '../../../control-plane/dashboard/parts/copy-button.tsx'
import { EMPTY_CHANNEL } from '../../../control-plane/dashboard/screens/setup/channels/channel-form.ts'
import { NewChannel } from '../../../control-plane/dashboard/screens/setup/channels/new-channel-form.tsx'
import { findElement, fire, listElements } from '../../support/elements.ts'
import { STORED_CHANNEL } from '../../support/form-records.ts'
import { runHook } from '../../support/run-hook.ts'
import type { Teardown } from '../../support/teardown.ts'

const REFUSED: OperationError = { status: 503, code: 'unavailable', message: 'try again' }

/** The form of a new webhook while three monitors have no channel. `answer` ends the change of their rules. */
function openForm(t: Teardown) {
  const sent: string[] = []
  let answer = () => {}
  const changed = new Promise<{ error: OperationError }>(resolve => {
    answer = () => resolve({ error: REFUSED })
  })
  const execute = (async (name: string) => {
    sent.push(name)
    return name === 'createAlertChannel'
      ? { data: { data: { ...STORED_CHANNEL, signing_secret: `whsec_${sent.length}` } } }
      : changed
  }) as unknown as Execute
  const start = { ...EMPTY_CHANNEL, name: 'Operations', type: 'webhook', values: { url: 'https://a.example' } } as const
  const form = runHook(t, {
    hook: NewChannel,
    props: { start, unalerted: 3, buildNextPath: (id: string) => `/settings/channels/${id}` },
    frame: { isInteractive: true, execute },
  })
  /** What is shown after the creation; null while the form is shown. */
  const readCreated = () => {
    const { type, props } = form.current
    return typeof type === 'function' ? (type as FunctionComponent)(props) : null
  }
  return { form, sent, readCreated, answer: () => answer() }
}

t.test(
  'The secret of a new channel is shown before its alert rules are added, and no second channel is created',
  async t => {
    const { form, sent, readCreated, answer } = openForm(t)
    const created = fire(findElement(form.current, 'form'), 'onSubmit')
    await form.waitUntil(() => sent.includes('changeMonitors'), 'the change of the rules')
    await form.waitUntil(() => readCreated() !== null, 'the created channel instead of the form')
    t.equal(findElement(readCreated(), Secret).props.value, 'whsec_1')
    t.match(JSON.stringify(readCreated()), 'Its alert rules are being added.')
    const countButtons = () => listElements(readCreated()).filter(({ type }) => type === 'button').length
    t.equal(countButtons(), 0, 'the page stays until it says what became of the rules')
    answer()
    await created
    await form.waitUntil(() => countButtons() === 1, 'the button that goes on')
    t.match(JSON.stringify(readCreated()), 'It is not yet alerted about existing monitors: try again.')
    t.equal(findElement(readCreated(), Secret).props.value, 'whsec_1')
    t.same(sent, ['createAlertChannel', 'changeMonitors'])
  },
)
