/** What the address of an embed accepts. */
export const EMBED_THEMES = ['auto', 'light', 'dark'] as const

export const BADGE_STYLES = ['flat', 'flat-square'] as const
export type BadgeStyle = (typeof BADGE_STYLES)[number]
