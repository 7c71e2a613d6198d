/** Who can get an account: everyone; people whom an admin invites; people whom the operator adds at the command line. */
export const REGISTRATION_MODES = ['open', 'invited', 'closed'] as const
export type RegistrationMode = (typeof REGISTRATION_MODES)[number]

/** Logged at the start, so that the operator knows the mode. */
export const REGISTRATION_MODE_MESSAGES: Record<RegistrationMode, string> = {
  open: 'accounts: anyone who can reach the API can create one (REGISTRATION=open)',
  invited: 'accounts: by invitation or at the command line only (REGISTRATION=invited)',
  closed: 'accounts: at the command line only (REGISTRATION=closed)',
}
