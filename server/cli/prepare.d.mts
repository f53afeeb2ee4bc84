/** Builds `out/` when a source has changed since the last build; says whether it had to. */
export function buildChanged(): Promise<boolean>
