export function buildClient(folder?: string): void
