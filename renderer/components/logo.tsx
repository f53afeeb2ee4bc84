/** The logo: two piers and the water line between them. Same drawing as resources/icon.svg. */
export function Logo({ size = 26 }: { size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 64 64" aria-hidden>
      <rect width="64" height="64" rx="15" fill="oklch(0.5 0.19 var(--hue))" />
      <path d="M20.5 15v34M43.5 15v34" stroke="#fff" strokeWidth="8" strokeLinecap="round" />
      <path d="M20.5 34.5c4.6-5.2 8.2-5.4 11.5-2.5s6.9 2.7 11.5-2.5" fill="none" stroke="#fff" strokeWidth="7" />
    </svg>
  )
}
