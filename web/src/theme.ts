// Sets the chosen theme before anything is drawn. It is a file of its own because it must run before the page is read.
try {
  const chosen = localStorage.getItem('leasehold-theme');
  if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset['theme'] = chosen;
} catch {
  // Without storage the system's theme counts.
}
