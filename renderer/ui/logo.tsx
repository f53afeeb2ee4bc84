/** The mark: two piers and the water line between them. The same drawing as resources/icon.svg. */
export function Logo({ size = 26 }: { size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 64 64" aria-hidden>
      <rect width="64" height="64" rx="15" fill="oklch(0.5 0.19 var(--hue))" />
      <path d="M20.5 15v34M43.5 15v34" stroke="#fff" strokeWidth="8" strokeLinecap="round" />
      <path d="M20.5 35c6.5-8 10.3-6.2 11.5-3s5 5 11.5-3" fill="none" stroke="#fff" strokeWidth="7" />
    </svg>
  )
}
