/** The scopes that the app requests. */
export const SCOPES = [
  'chat:write',
  'channels:read',
  'commands',
  'incoming-webhook',
  'users:read',
  'users:read.email',
  'im:write',
] as const
