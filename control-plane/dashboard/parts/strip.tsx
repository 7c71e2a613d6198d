/** What a bar of the strip says. `none`: there is no vote. */
export type Bar = { name: string; state: 'ok' | 'degraded' | 'failing' | 'none' }

const WORDS = { ok: 'ok', degraded: 'degraded', failing: 'failing', none: 'no vote' }
const [WIDTH, STEP, HEIGHT] = [5, 7, 16]

/**
 * The region strip: one bar a region. Whole is ok, half is degraded, broken is failing, an outline has no vote. Readable
 * without colour.
 */
export const Strip = ({ bars, label }: { bars: readonly Bar[]; label: string }) => (
  <svg
    class="strip"
    width={Math.max(1, bars.length * STEP - (STEP - WIDTH))}
    height={HEIGHT}
    viewBox={`0 0 ${Math.max(1, bars.length * STEP - (STEP - WIDTH))} ${HEIGHT}`}
    role="img"
    aria-label={`${label}: ${bars.map(({ name, state }) => `${name} ${WORDS[state]}`).join(', ') || 'nothing known'}`}
  >
    {bars.map(({ state }, i) => (
      <StripBar key={i} x={i * STEP} state={state} />
    ))}
  </svg>
)

function StripBar({ x, state }: { x: number; state: Bar['state'] }) {
  if (state === 'none') return <rect class="none" x={x + 0.5} y={0.5} width={WIDTH - 1} height={HEIGHT - 1} />
  if (state === 'degraded') return <rect class="degraded" x={x} y={HEIGHT / 2} width={WIDTH} height={HEIGHT / 2} />
  if (state === 'ok') return <rect x={x} y={0} width={WIDTH} height={HEIGHT} />
  return (
    <g class="failing">
      <rect x={x} y={0} width={WIDTH} height={6} />
      <rect x={x} y={10} width={WIDTH} height={6} />
    </g>
  )
}
