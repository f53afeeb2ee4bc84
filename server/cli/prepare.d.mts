/** Builds `out/` when a source has changed since the last build; says whether it had to. */
export function buildChanged(): Promise<boolean>
/** Flags that the platform's Node is started with. */
export const nodeFlags: string[]
