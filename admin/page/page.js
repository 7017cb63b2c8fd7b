// Loads the page again, unless somebody is about to use it. If riskdex does not
// answer, the page says that it is old.
setInterval(function () {
  var at = document.activeElement;
  if (document.hidden || (at && at.matches("input")) || document.querySelector("details[open]")) return;
  fetch("/livez").then(function () { location.replace("/"); }, function () {
    document.body.classList.add("old");
  });
}, 15000);
