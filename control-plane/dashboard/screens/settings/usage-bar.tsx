const WIDTH = 160

/** How much of a limit is in use. The figures are next to it, so it is not read out. */
export const UsageBar = ({ used, limit }: { used: number; limit: number }) => {
  const share = limit === 0 ? 1 : Math.min(1, used / limit)
  return (
    <svg
      class={share >= 1 ? 'usage-bar full' : 'usage-bar'}
      viewBox={`0 0 ${WIDTH} 6`}
      width={WIDTH}
      height={6}
      aria-hidden="true"
    >
      <rect class="all" width={WIDTH} height={6} />
      <rect width={Math.round(share * WIDTH)} height={6} />
    </svg>
  )
}
