/** Who may have an account made: everyone; who is invited by a member; who the operator lets in at the command line. */
export const REGISTRATION_MODES = ['open', 'invited', 'closed'] as const
export type RegistrationMode = (typeof REGISTRATION_MODES)[number]

/** For the log at the start, so that no operator leaves it open without knowing. */
export const REGISTRATION_MODE_MESSAGES: Record<RegistrationMode, string> = {
  open: 'accounts: everyone who reaches the API can make one (REGISTRATION=open)',
  invited: 'accounts: only by an invitation or the command line (REGISTRATION=invited)',
  closed: 'accounts: only by the command line (REGISTRATION=closed)',
}
