import { canWrite, useFrame } from '../../core/frame-context.ts'
import { Dialog } from './dialog.tsx'

/** `change`: only for people who may change something. */
type HelpLine = readonly [keys: readonly string[], meaning: string, kind?: 'change']

const GROUPS: readonly { title: string; lines: readonly HelpLine[] }[] = [
  {
    title: 'Everywhere',
    lines: [
      [['Ctrl', 'K'], 'go to a monitor or a page; also Cmd K'],
      [['g', 'o'], 'go to the overview: one key after the other'],
      [['g', 'm'], 'go to the monitors'],
      [['g', 'i'], 'go to the incidents'],
      [['g', 'p'], 'go to the status pages'],
      [['?'], 'this list'],
      [['Esc'], 'close a dialog'],
    ],
  },
  {
    title: 'List of monitors',
    lines: [
      [['j'], 'next row'],
      [['k'], 'previous row'],
      [['Enter'], 'open the row'],
      [['/'], 'filter'],
      [['x'], 'select the row, or end its selection', 'change'],
      [['c'], 'check the row now', 'change'],
      [['e'], 'settings of the row', 'change'],
      [['p'], 'pause the selected monitors, or the row', 'change'],
      [['m'], 'silence the selected monitors, or the row', 'change'],
    ],
  },
  {
    title: 'Page of a monitor',
    lines: [
      [['c'], 'check now', 'change'],
      [['p'], 'pause or resume', 'change'],
      [['m'], 'silence', 'change'],
      [['e'], 'settings', 'change'],
    ],
  },
  {
    title: 'List of incidents',
    lines: [
      [['j'], 'next row'],
      [['k'], 'previous row'],
      [['Enter'], 'open the row'],
      [['a'], 'acknowledge the row', 'change'],
    ],
  },
  {
    title: 'Page of an incident',
    lines: [
      [['a'], 'acknowledge', 'change'],
      [['e'], 'edit', 'change'],
    ],
  },
]

/** The list of keys, and the switch for those without Ctrl or Cmd. */
export function KeyHelp({ onClose }: { onClose(): void }) {
  const { me, keys } = useFrame()
  const groups = GROUPS.map(({ title, lines }) => ({ title, lines: lines.filter(line => canWrite(me) || !line[2]) }))
  return (
    <Dialog id="key-help" title="Keyboard keys" onClose={onClose}>
      {/* first, because the focus goes to it and the list may be longer than the window */}
      <label class="choice">
        <input type="checkbox" checked={keys.areOn} onChange={event => keys.setOn(event.currentTarget.checked)} />
        <span>Use keys without Ctrl. They have no effect in a field. The setting is saved in your account.</span>
      </label>
      <div class="key-groups">
        {groups.map(({ title, lines }) => lines.length > 0 && <KeyGroup key={title} title={title} lines={lines} />)}
      </div>
      <div class="actions">
        <button type="button" onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  )
}

const KeyGroup = ({ title, lines }: { title: string; lines: readonly HelpLine[] }) => (
  <div>
    <h3>{title}</h3>
    <dl>
      {lines.map(([names, meaning]) => (
        <div key={meaning}>
          <dt>
            {names.map(name => (
              <kbd key={name}>{name}</kbd>
            ))}
          </dt>
          <dd>{meaning}</dd>
        </div>
      ))}
    </dl>
  </div>
)
