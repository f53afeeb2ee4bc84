// Before the first paint, so that a chosen theme does not flash: the page's own script comes a moment too late for that.
try {
  const theme = localStorage.getItem('homeport.theme')
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme
} catch {
  // A browser that keeps nothing has no choice to show.
}
// The page of another instance does not begin in the colours of this one.
if (location.pathname.startsWith('/app/on/')) document.documentElement.dataset.elsewhere = ''
