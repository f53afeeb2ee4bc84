/** Builds `out/` if a source has changed since the last build; returns whether it did. */
export function buildChanged(): Promise<boolean>
/** Flags for the Node process of the platform. */
export const nodeFlags: string[]
