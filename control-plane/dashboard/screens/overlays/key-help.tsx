import { useFrame } from '../../core/frame-context.ts'
import { Dialog } from './dialog.tsx'

const GROUPS: readonly { title: string; keys: readonly (readonly [keys: string[], meaning: string])[] }[] = [
  {
    title: 'Everywhere',
    keys: [
      [['Ctrl', 'K'], 'go to a monitor or a page; also Cmd K'],
      [['?'], 'this list'],
      [['Esc'], 'close a dialog'],
    ],
  },
  {
    title: 'List of monitors',
    keys: [
      [['j'], 'next row'],
      [['k'], 'previous row'],
      [['Enter'], 'open the row'],
      [['x'], 'select the row, or end its selection'],
      [['p'], 'pause the selected monitors, or the row'],
      [['m'], 'silence the selected monitors, or the row'],
      [['/'], 'filter'],
    ],
  },
]

/** The list of keys, and the switch for those without Ctrl or Cmd. */
export function KeyHelp({ onClose }: { onClose(): void }) {
  const { keys } = useFrame()
  return (
    <Dialog id="key-help" title="Keyboard keys" onClose={onClose}>
      {GROUPS.map(group => (
        <div key={group.title}>
          <h3>{group.title}</h3>
          <dl>
            {group.keys.map(([names, meaning]) => (
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
      ))}
      <label class="choice">
        <input type="checkbox" checked={keys.areOn} onChange={event => keys.setOn(event.currentTarget.checked)} />
        <span>Use keys without Ctrl. They have no effect in a field. The setting is saved in your account.</span>
      </label>
      <div class="actions">
        <button type="button" onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  )
}
