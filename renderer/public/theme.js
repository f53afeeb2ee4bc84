// Runs before the first paint, so that the selected theme does not flash.
try {
  const theme = localStorage.getItem('homeport.theme')
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme
} catch {
  // Without storage there is no selected theme.
}
// Pages of a remote instance start with neutral colors.
if (location.pathname.startsWith('/app/on/')) document.documentElement.dataset.remote = ''

// Chromium aborts requests when network interfaces change, as they do when containers start. A stylesheet that was lost that way is requested
// once more; if it was the page's script, the page is reloaded once.
addEventListener(
  'error',
  ({ target }) => {
    if (target instanceof HTMLLinkElement && target.rel === 'stylesheet' && target.dataset.retried === undefined) {
      const again = target.cloneNode()
      again.dataset.retried = ''
      target.replaceWith(again)
    }
    const [navigation] = performance.getEntriesByType('navigation')
    if (target instanceof HTMLScriptElement && navigation?.type !== 'reload') location.reload()
  },
  true,
)
