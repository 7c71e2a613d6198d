/** What the app asks a team for (specification, "Team-chat app install"). */
export const SCOPES = [
  'chat:write',
  'channels:read',
  'commands',
  'incoming-webhook',
  'users:read',
  'users:read.email',
  'im:write',
] as const
